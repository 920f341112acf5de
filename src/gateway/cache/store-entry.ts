import { createPublicId } from '#base/ids.ts';
import { HeaderList } from '../http/headers.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { CacheEntry } from './cache-entry.ts';
import { buildVariantKey, clientHeadersName } from './cache-key.ts';
import type { CacheLocation } from './cache-location.ts';
import type { ResponseCache } from './response-cache.ts';
import { parseAge, parseVary, selectStoredHeaders } from './response-freshness.ts';

/** The result of a coalesced request. Waiters use it if their request selects the same variant. */
export interface CoalescedResult {
  readonly entry: CacheEntry;
  readonly varyNames: readonly string[];
  readonly headers: HeaderList;
}

export const toEntryHead = (
  call: Exchange,
  response: GatewayResponse,
  nowMs: number,
  ttlMs: number,
): Omit<CacheEntry, 'body'> => ({
  status: response.status,
  headers: selectStoredHeaders(call, response),
  storedAtMs: nowMs,
  ageSeconds: parseAge(response.headers),
  expiresAtMs: nowMs + ttlMs,
});

/** The API that a response belongs to. */
export interface CacheOwner {
  readonly orgId: string;
  readonly apiId: string;
}

/** Stores a response; with `Vary` under the key of its variant, and a marker under the primary key. */
export function storeEntry(
  cache: ResponseCache,
  { orgId, apiId }: CacheOwner,
  { key, writeToken, marker, clientHeaders }: CacheLocation,
  headers: HeaderList,
  entry: CacheEntry,
): CoalescedResult {
  const responseNames = parseVary(new HeaderList(entry.headers as string[])) ?? [];
  const clientNames = clientHeaders === '' ? [] : [clientHeadersName];
  const varyNames = [...new Set([...(marker?.varyNames ?? []), ...responseNames, ...clientNames])].sort();
  const result = { entry, varyNames, headers };
  if (writeToken === undefined) return result;
  if (varyNames.length === 0) {
    cache.put(apiId, key, entry, writeToken, orgId);
    return result;
  }
  // Names are only added: markers with as many names have the same ones.
  const variantId = marker?.varyNames.length === varyNames.length ? marker.variantId : createPublicId();
  const nextMarker = { varyNames, variantId, expiresAtMs: entry.expiresAtMs };
  cache.put(apiId, key, nextMarker, writeToken, orgId);
  cache.put(apiId, buildVariantKey(key, nextMarker, headers, clientHeaders), entry, writeToken, orgId);
  return result;
}
