import type { Clock } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import type { Blobs } from '#storage/shared/shared.ts';
import { decodeItem, encodeItem } from './entry.ts';
import { createInvalidationLog } from './invalidation-log.ts';
import type { ResponseCache } from './response-cache.ts';

export interface RedisCacheOptions {
  readonly blobs: Blobs;
  readonly clock: Clock;
}

/** Answers where all gateways find them. While that place is away nothing is kept, and calls go on to their upstreams. */
export function createRedisCache({ blobs, clock }: RedisCacheOptions): ResponseCache {
  const invalidations = createInvalidationLog();
  const generationKey = (apiId: string) => `era:${apiId}`;
  const itemKey = (apiId: string, key: string) => `kept:${apiId}:${key}`;
  return {
    async find(apiId, key) {
      const seen = invalidations.seen();
      const turn = invalidations.versionOf(key);
      const found = await blobs.read([generationKey(apiId), itemKey(apiId, key)]);
      if (!found) return { kept: undefined, era: undefined, turn: `.${turn}` };
      const ofApi = found[0]?.toString() ?? '';
      const kept = found[1] && decodeItem(found[1], ofApi);
      const isFresh = kept !== undefined && kept.expiresAtMs > clock.now();
      return { kept: isFresh ? kept : undefined, era: `${ofApi}.${seen}`, turn: `${ofApi}.${turn}` };
    },
    put(apiId, key, kept, era) {
      const [ofApi = '', seen] = era.split('.');
      if (invalidations.isInvalidatedSince(key, Number(seen))) return;
      blobs.write(itemKey(apiId, key), encodeItem(kept, ofApi), kept.expiresAtMs - clock.now());
    },
    delete(apiId, key) {
      invalidations.add(key);
      blobs.remove(itemKey(apiId, key));
    },
    // Another era makes all that was written before worthless at once, and whatever is still being written too.
    purgeApi: apiId => blobs.writePermanently(generationKey(apiId), Buffer.from(createPublicId())),
  };
}
