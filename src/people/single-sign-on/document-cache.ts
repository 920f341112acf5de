import type { Clock } from '#base/clock.ts';
import { Lru } from '#base/lru.ts';

/** Bounds of one request to an identity provider. */
export const providerTimeoutMs = 10_000;
export const maxProviderBytes = 512 * 1024;

const maxCachedDocuments = 1000;
/** A provider that failed is requested again after this time. */
const failureTtlMs = 5000;

/**
 * Request coalescing for documents of identity providers: one request per organisation and URL, however many browsers
 * begin a sign-on. They do so without a credential, and must not occupy the outbound client.
 */
export function createDocumentCache<T>(
  clock: Clock,
  ttlMs: number,
  load: (orgId: string, url: string) => Promise<T>,
): (orgId: string, url: string) => Promise<T> {
  const cache = new Lru<string, { readonly value: Promise<T>; expiresAtMs: number }>(maxCachedDocuments);
  return (orgId, url) => {
    const key = JSON.stringify([orgId, url]);
    const cached = cache.get(key);
    if (cached && cached.expiresAtMs > clock.now()) return cached.value;
    const entry = { value: load(orgId, url), expiresAtMs: clock.now() + ttlMs };
    cache.set(key, entry);
    entry.value.catch(() => {
      entry.expiresAtMs = clock.now() + failureTtlMs;
    });
    return entry.value;
  };
}
