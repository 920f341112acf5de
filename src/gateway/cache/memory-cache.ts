import type { Clock } from '#base/clock.ts';
import { estimateBytes, type StoredItem } from './cache-entry.ts';
import { createInvalidationLog } from './invalidation-log.ts';
import type { ResponseCache } from './response-cache.ts';

export interface MemoryCacheOptions {
  /** Estimated size of all items; the least recently used are evicted first. */
  readonly maxBytes: number;
  readonly clock: Clock;
  /** Invalidates the key in the other threads. */
  readonly onInvalidate?: (key: string) => void;
}

interface Slot {
  readonly apiId: string;
  readonly item: StoredItem;
  readonly bytes: number;
}

export interface MemoryCache extends ResponseCache {
  /** Invalidates a key that another thread invalidated. */
  receiveInvalidation(key: string): void;
  readonly usedBytes: number;
}

/** Slots in the order of their last use: a map iterates in insertion order, so the first is the least recent. */
function createSlots(maxBytes: number) {
  const slots = new Map<string, Slot>();
  let usedBytes = 0;

  function remove(key: string): Slot | undefined {
    const slot = slots.get(key);
    if (slot && slots.delete(key)) usedBytes -= slot.bytes;
    return slot;
  }

  return {
    remove,
    insert(key: string, slot: Slot): void {
      slots.set(key, slot);
      usedBytes += slot.bytes;
      for (const leastRecent of slots.keys()) {
        if (usedBytes <= maxBytes) break;
        remove(leastRecent);
      }
    },
    removeApi(apiId: string): void {
      for (const [key, slot] of slots) if (slot.apiId === apiId) remove(key);
    },
    getUsedBytes: (): number => usedBytes,
  };
}

/** Response cache in the memory of one thread, LRU by size. */
export function createMemoryCache({ maxBytes, clock, onInvalidate }: MemoryCacheOptions): MemoryCache {
  const slots = createSlots(maxBytes);
  /** By API. */
  const purges = createInvalidationLog();
  /** By cache key. */
  const invalidations = createInvalidationLog();

  function isInvalidated(apiId: string, key: string, writeToken: string): boolean {
    const [purgeVersion, keyVersion] = writeToken.split('.').map(Number) as [number, number];
    return purges.isInvalidatedSince(apiId, purgeVersion) || invalidations.isInvalidatedSince(key, keyVersion);
  }

  function invalidate(key: string): void {
    slots.remove(key);
    invalidations.add(key);
  }

  return {
    find(apiId, key) {
      const slot = slots.remove(key);
      const isFresh = slot !== undefined && slot.item.expiresAtMs > clock.now();
      if (isFresh) slots.insert(key, slot);
      return {
        item: isFresh ? slot.item : undefined,
        writeToken: `${purges.currentVersion()}.${invalidations.currentVersion()}`,
        generation: `${purges.versionOf(apiId)}.${invalidations.versionOf(key)}`,
      };
    },
    put(apiId, key, item, writeToken) {
      if (isInvalidated(apiId, key, writeToken)) return;
      slots.remove(key);
      const bytes = estimateBytes(item) + key.length;
      if (bytes <= maxBytes) slots.insert(key, { apiId, item, bytes });
    },
    delete(_apiId, key) {
      invalidate(key);
      onInvalidate?.(key);
    },
    async purgeApi(apiId) {
      purges.add(apiId);
      slots.removeApi(apiId);
    },
    receiveInvalidation: invalidate,
    get usedBytes() {
      return slots.getUsedBytes();
    },
  };
}
