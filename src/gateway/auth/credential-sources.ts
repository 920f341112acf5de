import { decodeQueryText } from '#base/percent-decode.ts';
import type { AuthMethod, Model } from '#definition/model.ts';
import { readCookie } from '../http/cookies.ts';
import type { Exchange } from '../pipeline/exchange.ts';

/** Credential sources of a definition. */
export interface CredentialSettings {
  readonly headerEnabled: boolean;
  readonly headerName: string;
  readonly queryEnabled: boolean;
  readonly queryName: string;
  readonly cookieEnabled: boolean;
  readonly cookieName: string;
}

/** Resolved names; empty where the source is off. */
export interface CredentialSources {
  /** Lower-case. */
  readonly header: string;
  readonly query: string;
  readonly cookie: string;
}

export function toCredentialSources(sources: CredentialSettings): CredentialSources {
  const header = sources.headerName || 'Authorization';
  return {
    header: sources.headerEnabled ? header.toLowerCase() : '',
    query: sources.queryEnabled ? sources.queryName || header : '',
    cookie: sources.cookieEnabled ? sources.cookieName || header : '',
  };
}

/** All credential sources of an API. */
export const listCredentialSources = ({
  authMethods,
  securityRequirements,
  oauth2,
  ...model
}: Pick<Model, AuthMethod | 'authMethods' | 'securityRequirements' | 'oauth2'>): CredentialSources[] => [
  ...authMethods.map(mode => toCredentialSources(model[mode])),
  ...securityRequirements.flatMap(({ methods }) =>
    methods.map(({ config }) => toCredentialSources(config as unknown as CredentialSettings)),
  ),
  ...(oauth2.enabled ? [toCredentialSources(oauth2)] : []),
];

/** The credential as sent; empty where absent. A query parameter wins over the header, a cookie over both. */
export function readCredential({ header, query, cookie }: CredentialSources, call: Exchange): string {
  if (cookie !== '') {
    const value = readCookie(call.headers, cookie);
    if (value !== '') return value;
  }
  if (query !== '') {
    const value = readQueryParameter(call.query, query);
    if (value !== '') return value;
  }
  return header === '' ? '' : (call.headers.get(header) ?? '');
}

const bearer = /^Bearer /i;

export const stripBearer = (credential: string): string =>
  bearer.test(credential) ? credential.slice('Bearer '.length) : credential;

/** The first value of a parameter, decoded. */
export function readQueryParameter(query: string, name: string): string {
  for (const { raw, value } of iteratePairs(query)) if (isNamed(raw, name)) return decodeQueryText(value);
  return '';
}

export function removeQueryParameter(query: string, name: string): string {
  if (query === '') return query;
  return query
    .split('&')
    .filter(pair => !isNamed(pair.split('=', 1)[0]!, name))
    .join('&');
}

function* iteratePairs(query: string): Generator<{ raw: string; value: string }> {
  for (let at = 0; at < query.length; ) {
    const next = query.indexOf('&', at);
    const pair = query.slice(at, next < 0 ? undefined : next);
    const equals = pair.indexOf('=');
    yield equals < 0 ? { raw: pair, value: '' } : { raw: pair.slice(0, equals), value: pair.slice(equals + 1) };
    at = next < 0 ? query.length : next + 1;
  }
}

const isNamed = (raw: string, name: string) => raw === name || (/[%+]/.test(raw) && decodeQueryText(raw) === name);
