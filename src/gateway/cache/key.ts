import { hash } from 'node:crypto';
import type { Model, VersionModel } from '#definition/model.ts';
import type { HeaderList } from '../http/headers.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { VaryMarker } from './entry.ts';

/** One text for a list of texts that no other list has: each says how long it is. */
export function serializeTuple(parts: readonly (string | undefined)[]): string {
  let text = '';
  for (const part of parts) text += part === undefined ? '-' : `${part.length}:${part}`;
  return text;
}

export const hashTuple = (parts: readonly (string | undefined)[]): string =>
  hash('sha256', serializeTuple(parts), 'base64url');

/** All values of a header as one; undefined where there is none. */
const joinHeaderValues = (headers: HeaderList, name: string): string | undefined => {
  const values = headers.all(name);
  return values.length > 1 ? values.join(', ') : values[0];
};

/** By these a trusted proxy tells what address was asked for, and upstreams may answer accordingly. */
const proxyAddressHeaders = [
  ...['x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-prefix', 'x-host', 'x-original-host'],
  ...['x-http-host-override', 'x-original-url', 'x-rewrite-url'],
];

const signatureScheme = /^signature /i;

/**
 * Cache keys. Nobody gets what was made for another: organisation, API, version, definition and caller are in every key,
 * the caller by key or else by address, with `Authorization` and `Cookie`. Calls without a key that bring other headers
 * which may be credentials get variants of their own below the key, so that a change drops all of them at once.
 */
export function createCacheKeys(model: Model, version: VersionModel) {
  const { orgId, id } = model.identity;
  // A changed definition starts afresh: its answers may be others.
  const scope = hashTuple([orgId, id, version.key, JSON.stringify(model)]);
  const keyHeaders = [...new Set(model.cache.cacheByHeaders.map(name => name.toLowerCase()))].sort();
  const usesHmac = model.modes.includes('hmac');

  /** A signature is another one at every call, and says no more than who signs. */
  function readAuthorization({ headers }: Exchange): string | undefined {
    const value = joinHeaderValues(headers, 'authorization');
    return usesHmac && value !== undefined && signatureScheme.test(value) ? '' : value;
  }

  return {
    build(call: Exchange, method: string, body?: string): string {
      const { headers, rewrittenTarget } = call;
      const parts = [
        scope,
        method,
        call.upstreamMethod,
        call.host,
        call.peer.isTls ? 'secure' : '',
        call.path,
        call.query,
        call.keyId === '' ? 'address' : 'key',
        call.keyId || call.clientAddress,
        call.previousKeyIds,
        readAuthorization(call),
        joinHeaderValues(headers, 'cookie'),
        body,
      ];
      if (body !== undefined) parts.push(headers.get('content-type'));
      for (const name of keyHeaders) parts.push(joinHeaderValues(headers, name));
      if (call.peer.isTrusted) for (const name of proxyAddressHeaders) parts.push(joinHeaderValues(headers, name));
      if (rewrittenTarget) {
        const { address: to, path, query } = rewrittenTarget;
        parts.push(to?.origin, to?.path, to?.query, path, query);
      }
      return hashTuple(parts);
    },
  };
}

/** Stands among the names of headers for all caller headers together (`callerHeadersOf`); no header has this name. */
export const clientHeadersName = '*';

/** The name of the answer for these headers, where answers differ by them. */
export const buildVariantKey = (
  key: string,
  { varies, mark }: VaryMarker,
  headers: HeaderList,
  callerHeaders = '',
): string =>
  hashTuple([
    key,
    mark,
    ...varies.map(name => (name === clientHeadersName ? callerHeaders : joinHeaderValues(headers, name))),
  ]);

/** Whether two calls with the same caller headers are alike in what answers differ by. */
export const isSameVariant = (varies: readonly string[], one: HeaderList, other: HeaderList): boolean =>
  varies.every(name => name === clientHeadersName || joinHeaderValues(one, name) === joinHeaderValues(other, name));
