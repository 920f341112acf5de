import { arrayOrEmpty, isObject, objectOrEmpty } from '#base/json-tree.ts';
import type { RecordedBody, RecordedResponse } from './recorded-request.ts';

const toText = (value: unknown) => (typeof value === 'string' ? value : '');

const languageTypes: Readonly<Record<string, string>> = {
  json: 'application/json',
  xml: 'application/xml',
  html: 'text/html',
  javascript: 'application/javascript',
};

/** Body of a request of a Postman collection. */
export function toPostmanBody(body: unknown): RecordedBody | undefined {
  if (!isObject(body) || body.disabled === true) return undefined;
  const { mode } = body;
  if (mode === 'raw') {
    const text = toText(body.raw);
    if (text === '') return undefined;
    const { language } = objectOrEmpty(objectOrEmpty(body.options).raw);
    const given = Object.hasOwn(languageTypes, toText(language)) ? languageTypes[toText(language)] : undefined;
    return { mediaType: given ?? (/^\s*[[{]/.test(text) ? 'application/json' : 'text/plain'), text };
  }
  if (mode === 'urlencoded')
    return { mediaType: 'application/x-www-form-urlencoded', fields: readFields(body.urlencoded) };
  if (mode === 'formdata') return { mediaType: 'multipart/form-data', fields: readFields(body.formdata) };
  if (mode === 'graphql') return { mediaType: 'application/json', text: '{"query":"","variables":{}}' };
  return mode === 'file' ? { mediaType: 'application/octet-stream' } : undefined;
}

const readFields = (value: unknown) =>
  arrayOrEmpty(value)
    .filter(isObject)
    .filter(({ disabled }) => disabled !== true)
    .map(({ key, value: text, type }) => ({ name: toText(key), value: type === 'file' ? undefined : toText(text) }))
    .filter(({ name }) => name !== '');

/** Saved responses of a request. */
export const toPostmanResponses = (responses: unknown): RecordedResponse[] =>
  arrayOrEmpty(responses)
    .filter(isObject)
    .flatMap(({ code, name, header, body }) => {
      if (typeof code !== 'number' || code < 100 || code > 599) return [];
      const type = arrayOrEmpty(header).find(it => toText(objectOrEmpty(it).key).toLowerCase() === 'content-type');
      return [{ status: code, name: toText(name), mediaType: toText(objectOrEmpty(type).value), text: toText(body) }];
    });
