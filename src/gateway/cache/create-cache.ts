import type { Clock } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import type { Shared } from '#storage/shared/shared.ts';
import { threadCount } from '../pipeline/thread-count.ts';
import { createMemoryCache } from './memory-cache.ts';
import { createRedisCache } from './redis-cache.ts';
import type { ResponseCache } from './response-cache.ts';

export interface CacheOptions {
  readonly settings: Settings;
  readonly shared: Shared;
  readonly clock: Clock;
}

const invalidationChannel = 'response-dropped';

/** Where a thread keeps answers: in Redis with all others, or in its share of this process's memory. */
export async function createCache({ settings, shared, clock }: CacheOptions): Promise<ResponseCache> {
  if (shared.blobs) return createRedisCache({ blobs: shared.blobs, clock });
  const bytes = Math.floor(settings['cache.max_memory_bytes'] / threadCount(settings));
  const memory = createMemoryCache({
    maxBytes: bytes,
    clock,
    onInvalidate: key => void shared.publish(invalidationChannel, key),
  });
  await shared.subscribe(invalidationChannel, memory.receiveInvalidation);
  return memory;
}
