import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { Shared } from '#storage/shared/shared.ts';
import { threadCount } from '../pipeline/thread-count.ts';
import { createDisabledCache } from './disabled-cache.ts';
import { createRedisCache } from './redis-cache.ts';
import type { ResponseCache } from './response-cache.ts';
import { createSharedMemoryCache } from './shared-memory-cache.ts';
import { createSlabBuffer } from './shared-slab.ts';

export interface CacheOptions {
  readonly settings: Settings;
  readonly shared: Shared;
  /** Of `createCacheBuffer`; the same one in all threads. */
  readonly buffer: SharedArrayBuffer | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** The part of `cache.max_memory_bytes` for decoded copies, divided among the threads; the rest is shared memory. */
const localShare = 1 / 8;

/** Shared memory of the response cache of the process; undefined with Redis, and where it has no room for an entry. */
export const createCacheBuffer = (settings: Settings): SharedArrayBuffer | undefined =>
  settings['redis.url']
    ? undefined
    : createSlabBuffer(Math.floor(settings['cache.max_memory_bytes'] * (1 - localShare)));

/** The response cache: in Redis where there is one, else in memory that all threads of the process share. */
export function createCache({ settings, shared, buffer, clock, log }: CacheOptions): ResponseCache {
  if (shared.blobs) return createRedisCache({ blobs: shared.blobs, clock });
  if (!buffer) return createDisabledCache();
  return createSharedMemoryCache({
    buffer,
    maxLocalBytes: Math.floor((settings['cache.max_memory_bytes'] * localShare) / threadCount(settings)),
    clock,
    onBroken: () => log.error({}, 'response cache disabled until the next start: a thread ended while writing to it'),
  });
}
