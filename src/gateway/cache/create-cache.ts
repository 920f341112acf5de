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

/** The response cache of a thread: in Redis where there is one, else the thread's share of `cache.max_memory_bytes`. */
export async function createCache({ settings, shared, clock }: CacheOptions): Promise<ResponseCache> {
  if (shared.blobs) return createRedisCache({ blobs: shared.blobs, clock });
  const maxBytes = Math.floor(settings['cache.max_memory_bytes'] / threadCount(settings));
  const onInvalidate = (key: string) => void shared.publish(invalidationChannel, key);
  const memory = createMemoryCache({ maxBytes, clock, onInvalidate });
  await shared.subscribe(invalidationChannel, memory.receiveInvalidation);
  return memory;
}
