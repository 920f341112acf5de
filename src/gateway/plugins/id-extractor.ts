import type { Model } from '#definition/model.ts';
import { decodeXml, parseXml, XmlError } from '#languages/xml.ts';
import { compileXPath, selectText, XPathError } from '#languages/xpath.ts';
import { noBytes } from '../http/body.ts';
import { compileBoundedRegex } from '../pipeline/bounded-regex.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { ApiCompileError } from '../pipeline/step.ts';

type Settings = Model['idExtractor'];

/** Text that identifies the client; empty where the request has none. */
export type IdExtractor = (call: Exchange) => string;

/** Bodies can be long: the pattern has fewer instructions than those for paths. */
const maxInstructions = 500;

/** Undefined where the definition has no id extractor. */
export function createIdExtractor(settings: Settings): IdExtractor | undefined {
  if (!settings.enabled) return undefined;
  const read = createSource(settings);
  const select = createSelector(settings);
  return call => select(read(call));
}

function createSource({ source, with: method, headerName, formParamName }: Settings): IdExtractor {
  if (source === 'header') {
    if (headerName === '') throw new ApiCompileError('the id extractor has no name of a header');
    const name = headerName.toLowerCase();
    return call => call.headers.get(name) ?? '';
  }
  if (source === 'body' && method !== 'value' && method !== '')
    return ({ body }) => (method === 'xpath' ? decodeText(body.bytes ?? noBytes) : (body.bytes ?? noBytes).toString());
  if (source !== 'form' && source !== 'querystring')
    throw new ApiCompileError(`an id extractor cannot extract a ${method || 'value'} from ${JSON.stringify(source)}`);
  if (formParamName === '') throw new ApiCompileError('the id extractor has no name of a parameter');
  const readQuery = ({ query }: Exchange) => new URLSearchParams(query).get(formParamName) ?? '';
  if (source === 'querystring') return readQuery;
  return call => readFormField(call, formParamName) || readQuery(call);
}

function readFormField({ headers, body }: Exchange, name: string): string {
  const type = headers.get('content-type') ?? '';
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) return '';
  return new URLSearchParams((body.bytes ?? noBytes).toString()).get(name) ?? '';
}

function decodeText(bytes: Buffer): string {
  try {
    return decodeXml(bytes);
  } catch (error) {
    if (error instanceof XmlError) return '';
    throw error;
  }
}

function createSelector({ with: method, regexp, regexpMatchIndex, xPathExp }: Settings): (text: string) => string {
  if (method === 'value' || method === '') return text => text;
  if (method === 'regex') {
    if (regexp === '') throw new ApiCompileError('the id extractor has no regular expression');
    const pattern = compileBoundedRegex('the regular expression of the id extractor', regexp, { maxInstructions });
    return text => {
      const matcher = pattern.matcher(text);
      for (let index = 0; matcher.find(); index++) if (index === regexpMatchIndex) return matcher.group() ?? '';
      return '';
    };
  }
  if (method !== 'xpath') throw new ApiCompileError(`an id extractor has no method ${JSON.stringify(method)}`);
  const path = compilePath(xPathExp);
  return text => {
    try {
      return text === '' ? '' : (selectText(path, parseXml(text)) ?? '');
    } catch (error) {
      if (error instanceof XmlError) return '';
      throw error;
    }
  };
}

function compilePath(source: string) {
  try {
    return compileXPath(source);
  } catch (error) {
    if (!(error instanceof XPathError)) throw error;
    throw new ApiCompileError(`the XPath expression of the id extractor ${error.message}`);
  }
}
