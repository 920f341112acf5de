import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { type Converted, createWarnings } from './converted.ts';
import { createTextProblem } from './problems.ts';
import { toRecordedDocument } from './recorded-document.ts';
import {
  createRequestsProblem,
  maxRecordedRequests,
  type NameValue,
  type RecordedBody,
  type RecordedRequest,
  type RecordedResponse,
  splitUrl,
} from './recorded-request.ts';

const toText = (value: unknown) => (typeof value === 'string' ? value : '');
const readPairs = (value: unknown): NameValue[] =>
  arrayOrEmpty(value)
    .filter(isObject)
    .map(({ name, value: text }) => ({ name: toText(name), value: toText(text) }))
    .filter(({ name }) => name !== '');

/** Requests of pages that are no calls of an API. */
const assetTypes =
  /^(text\/(html|css|javascript)|image\/|font\/|video\/|audio\/|application\/(x-)?javascript|application\/wasm)/;

/** Converts an HTTP archive (HAR 1.2), as browsers export it. Values are not copied: they may be secrets. */
export function convertHar(archive: JsonObject): Converted {
  const { entries } = objectOrEmpty(archive.log);
  if (!Array.isArray(entries)) throw createTextProblem('it is no HTTP archive: log.entries must be a list');
  if (entries.length > maxRecordedRequests) throw createRequestsProblem();
  const warnings = createWarnings();
  const requests = entries.filter(isObject).flatMap(entry => {
    const response = toResponse(objectOrEmpty(entry.response));
    if (response && assetTypes.test(response.mediaType)) {
      warnings.add('requests for pages, scripts, styles, images and fonts are left out');
      return [];
    }
    const request = toRequest(objectOrEmpty(entry.request), response);
    if (!request) warnings.add('entries without a URL of HTTP are left out');
    return request ?? [];
  });
  if (requests.length === 0) throw createTextProblem('it has no request of an API');
  const { origin } = requests[0]!;
  return toRecordedDocument(requests, { title: origin ? new URL(origin).hostname : 'API', warnings });
}

function toRequest(request: JsonObject, response: RecordedResponse | undefined): RecordedRequest | undefined {
  const url = splitUrl(toText(request.url));
  if (!url) return undefined;
  const query = readPairs(request.queryString);
  return {
    ...url,
    query: query.length > 0 ? query : url.query,
    method: toText(request.method) || 'GET',
    headers: readPairs(request.headers),
    body: toBody(request.postData),
    responses: response ? [response] : [],
  };
}

function toBody(data: unknown): RecordedBody | undefined {
  if (!isObject(data)) return undefined;
  const { mimeType, text, params } = data;
  const fields = readPairs(params);
  return { mediaType: toText(mimeType), text: toText(text), ...(fields.length > 0 && { fields }) };
}

function toResponse({ status, content }: JsonObject): RecordedResponse | undefined {
  if (typeof status !== 'number' || status < 200 || status > 599) return undefined;
  const { mimeType, text, encoding } = objectOrEmpty(content);
  return { status, mediaType: toText(mimeType), text: encoding === 'base64' ? undefined : toText(text) };
}
