import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { andThen } from '#base/maybe-promise.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { type CacheEntry, isVaryMarker, type VaryMarker } from './cache-entry.ts';
import { buildVariantKey, clientHeadersName } from './cache-key.ts';
import type { CacheRules } from './cache-policy.ts';
import type { ResponseCache } from './response-cache.ts';

/** Where the response to a request is stored, or would be. */
export interface CacheLocation {
  /** The primary cache key. */
  readonly key: string;
  /** The key of the variant for this request; the primary key where responses do not vary. */
  readonly variantKey: string;
  readonly marker: VaryMarker | undefined;
  readonly entry: CacheEntry | undefined;
  readonly writeToken: string | undefined;
  readonly generation: string;
  /** Headers that may identify a client without a key; empty for a client with one. */
  readonly clientHeaders: string;
}

export const toCoalescingKey = ({ variantKey, generation, clientHeaders }: CacheLocation): string =>
  `${variantKey} ${generation} ${clientHeaders}`;

/** Reads the entry under a primary key, through its Vary marker where there is one. */
export function locateEntry(
  cache: ResponseCache,
  apiId: string,
  call: Exchange,
  key: string,
  clientHeaders: string,
): MaybePromise<CacheLocation> {
  return andThen(cache.find(apiId, key), ({ item, writeToken, generation }) => {
    const base = { key, writeToken, generation, clientHeaders };
    if (!item || !isVaryMarker(item))
      return { ...base, variantKey: key, marker: undefined, entry: clientHeaders === '' ? item : undefined };
    // The variants were stored for requests without identifying headers.
    if (clientHeaders !== '' && !item.varyNames.includes(clientHeadersName))
      return { ...base, variantKey: key, marker: item, entry: undefined };
    const variantKey = buildVariantKey(key, item, call.headers, clientHeaders);
    return andThen(cache.find(apiId, variantKey), ({ item: variant }) => ({
      ...base,
      variantKey,
      marker: item,
      entry: variant && !isVaryMarker(variant) ? variant : undefined,
    }));
  });
}

/** Requests with longer bodies are not cached where a pattern selects the part of the body for the key. */
const maxSearchedBodyBytes = 65_536;

/** The part of a body that is in the cache key: a digest, or the pattern's match. Undefined where it is too long. */
export function selectBodyPart(bytes: Buffer, { bodyPattern }: CacheRules): string | undefined {
  if (!bodyPattern || !isUtf8(bytes)) return hash('sha256', bytes, 'base64url');
  if (bytes.length > maxSearchedBodyBytes) return undefined;
  const matcher = bodyPattern.matcher(bytes.toString());
  return matcher.find() ? (matcher.group() ?? '') : '';
}
