import type { Clock } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import type { Blobs } from '#storage/shared/shared.ts';
import { decodeItem, encodeItem } from './cache-entry.ts';
import { createInvalidationLog } from './invalidation-log.ts';
import type { ResponseCache } from './response-cache.ts';

export interface RedisCacheOptions {
  readonly blobs: Blobs;
  readonly clock: Clock;
}

/** Response cache in Redis, shared by all gateways. While Redis is unavailable every lookup is a miss. */
export function createRedisCache({ blobs, clock }: RedisCacheOptions): ResponseCache {
  const invalidations = createInvalidationLog();
  const toGenerationKey = (apiId: string) => `era:${apiId}`;
  const toItemKey = (apiId: string, key: string) => `kept:${apiId}:${key}`;
  return {
    async find(apiId, key) {
      const version = invalidations.currentVersion();
      const keyVersion = invalidations.versionOf(key);
      const blob = await blobs.read([toGenerationKey(apiId), toItemKey(apiId, key)]);
      if (!blob) return { item: undefined, writeToken: undefined, generation: `.${keyVersion}` };
      const apiGeneration = blob[0]?.toString() ?? '';
      const item = blob[1] && decodeItem(blob[1], apiGeneration);
      return {
        item: item !== undefined && item.expiresAtMs > clock.now() ? item : undefined,
        writeToken: `${apiGeneration}.${version}`,
        generation: `${apiGeneration}.${keyVersion}`,
      };
    },
    put(apiId, key, item, writeToken) {
      const [apiGeneration = '', version] = writeToken.split('.');
      if (invalidations.isInvalidatedSince(key, Number(version))) return;
      blobs.write(toItemKey(apiId, key), encodeItem(item, apiGeneration), item.expiresAtMs - clock.now());
    },
    delete(apiId, key) {
      invalidations.add(key);
      blobs.remove(toItemKey(apiId, key));
    },
    // A new generation invalidates every item of the API at once, also those that are still being written.
    purgeApi: apiId => blobs.writePermanently(toGenerationKey(apiId), Buffer.from(createPublicId())),
  };
}
