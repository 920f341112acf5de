import type { CommandRequest } from '../../kit/curl.ts';
import { type FormObject, toJsonObject } from './form/json-members.ts';
import { listDocumentOperations } from './operations-of-document.ts';

/** Source of a sample call: the API in the classic format, and its document where it has one. */
export interface SampleSource {
  readonly url: string;
  readonly authentication: readonly string[];
  readonly isGraphql: boolean;
  readonly classic: FormObject;
  readonly document: FormObject | undefined;
}

/** Placeholders that a reader replaces. */
export interface SamplePlaceholders {
  readonly key: string;
  readonly token: string;
  readonly credentials: string;
}

/** One request that the gateway accepts once the placeholders are replaced. */
export function buildSampleCall(source: SampleSource, placeholders: SamplePlaceholders): CommandRequest {
  const headers = buildCredential(source, placeholders);
  if (source.isGraphql) return { method: 'POST', url: source.url, headers, body: { query: '{ __typename }' } };
  const path = findReadPath(source.document);
  return { method: 'GET', url: path === undefined ? source.url : joinPath(source.url, path), headers };
}

/** Path of the first operation that can be called without values. */
function findReadPath(document: FormObject | undefined): string | undefined {
  const operations = document === undefined ? [] : listDocumentOperations(document);
  return operations.find(({ method, path }) => method === 'GET' && !path.includes('{'))?.path;
}

const joinPath = (url: string, path: string) => `${url.replace(/\/$/, '')}/${path.replace(/^\//, '')}`;

function buildCredential({ authentication, classic }: SampleSource, { key, token, credentials }: SamplePlaceholders) {
  const [kind = 'keyless'] = authentication;
  const prefixed: Readonly<Record<string, string>> = {
    authToken: key,
    jwt: `Bearer ${token}`,
    oauth: `Bearer ${token}`,
    ba: `Basic ${credentials}`,
  };
  const value = prefixed[kind];
  return value === undefined ? {} : { [readHeaderName(classic, kind)]: value };
}

const configNames: Readonly<Record<string, string>> = { ba: 'basic' };

/** Header of the method's own configuration, of the shared one, or the standard one (RFC 9110, section 11.6.2). */
export function readHeaderName(classic: FormObject, kind = 'authToken'): string {
  const configs = toJsonObject(classic.auth_configs);
  const names = [configs[configNames[kind] ?? kind], classic.auth].map(it => toJsonObject(it).auth_header_name);
  return String(names.find(Boolean) ?? 'Authorization');
}
