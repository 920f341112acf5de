import { hash } from 'node:crypto';
import type { Model, VersionModel } from '#definition/model.ts';
import type { HeaderList } from '../http/headers.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { VaryMarker } from './cache-entry.ts';

/** Injective serialization: length prefixes keep the parts apart. */
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

/** The original URL as a trusted proxy forwards it; upstreams may respond accordingly. */
const proxyAddressHeaders = [
  ...['x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-prefix', 'x-host', 'x-original-host'],
  ...['x-http-host-override', 'x-original-url', 'x-rewrite-url'],
];

const signatureScheme = /^signature /i;

/**
 * Cache keys. Responses are never shared between clients: organisation, API, version, definition and client are in every
 * key, the client by its key or else its address, with `Authorization` and `Cookie`. Requests without a key but with other
 * headers that may be credentials get variants below the key, so that one invalidation reaches all of them.
 */
export function createCacheKeys(model: Model, version: VersionModel) {
  const { orgId, id } = model.identity;
  // A changed definition may change responses: its keys are new.
  const scope = hashTuple([orgId, id, version.key, JSON.stringify(model)]);
  const keyHeaders = [...new Set(model.cache.cacheByHeaders.map(name => name.toLowerCase()))].sort();
  const usesHmac = model.authMethods.includes('hmac');

  /** An HMAC signature differs in every request and only names the key, which is in the cache key already. */
  function readAuthorization({ headers }: Exchange): string | undefined {
    const value = joinHeaderValues(headers, 'authorization');
    return usesHmac && value !== undefined && signatureScheme.test(value) ? '' : value;
  }

  const listTarget = (call: Exchange, method: string) => [
    scope,
    method,
    call.upstreamMethod,
    call.host,
    call.peer.isTls ? 'secure' : '',
    call.path,
    call.query,
  ];

  /** Adds what else selects a response: configured headers, the original URL, the rewritten one. */
  function hashWithSelectors(parts: (string | undefined)[], { headers, peer, rewrittenTarget }: Exchange): string {
    for (const name of keyHeaders) parts.push(joinHeaderValues(headers, name));
    if (peer.isTrusted) for (const name of proxyAddressHeaders) parts.push(joinHeaderValues(headers, name));
    if (rewrittenTarget) {
      const { address: to, path, query } = rewrittenTarget;
      parts.push(to?.origin, to?.path, to?.query, path, query);
    }
    return hashTuple(parts);
  }

  return {
    build(call: Exchange, method: string, body?: string): string {
      const { headers } = call;
      const parts = listTarget(call, method);
      parts.push(
        call.keyId === '' ? 'address' : 'key',
        call.keyId || call.clientAddress,
        call.previousKeyIds,
        readAuthorization(call),
        joinHeaderValues(headers, 'cookie'),
        body,
      );
      if (body !== undefined) parts.push(headers.get('content-type'));
      return hashWithSelectors(parts, call);
    },
    /** Key of responses for all clients; only for requests that do not identify theirs. */
    buildShared: (call: Exchange): string => hashWithSelectors([...listTarget(call, 'GET'), 'all'], call),
  };
}

/** Vary name for all headers of `serializeClientHeaders` together; no header has this name. */
export const clientHeadersName = '*';

/** Secondary cache key (RFC 9111, section 4.1): the primary key and the values of the Vary headers. */
export const buildVariantKey = (
  key: string,
  { varyNames, variantId }: VaryMarker,
  headers: HeaderList,
  clientHeaders = '',
): string =>
  hashTuple([
    key,
    variantId,
    ...varyNames.map(name => (name === clientHeadersName ? clientHeaders : joinHeaderValues(headers, name))),
  ]);

/** True where two requests with the same client headers select the same variant. */
export const isSameVariant = (varyNames: readonly string[], one: HeaderList, other: HeaderList): boolean =>
  varyNames.every(name => name === clientHeadersName || joinHeaderValues(one, name) === joinHeaderValues(other, name));
