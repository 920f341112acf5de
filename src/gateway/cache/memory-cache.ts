import type { Clock } from '#base/clock.ts';
import { estimateBytes, type StoredItem } from './entry.ts';
import { createInvalidationLog } from './invalidation-log.ts';
import type { ResponseCache } from './response-cache.ts';

export interface MemoryCacheOptions {
  /** The most it takes; what was not asked for the longest goes first. */
  readonly maxBytes: number;
  readonly clock: Clock;
  /** Tells the other threads that an answer is no longer true. */
  readonly onInvalidate?: (key: string) => void;
}

interface Slot {
  readonly apiId: string;
  readonly kept: StoredItem;
  readonly bytes: number;
}

export interface MemoryCache extends ResponseCache {
  /** Drops what another thread dropped. */
  receiveInvalidation(key: string): void;
  readonly usedBytes: number;
}

/** Answers in the memory of one thread. A map holds its entries in the order they were put in: the oldest is the first. */
export function createMemoryCache({ maxBytes: most, clock, onInvalidate: onDrop }: MemoryCacheOptions): MemoryCache {
  const slots = new Map<string, Slot>();
  /** APIs whose answers were forgotten, and single answers that were dropped. */
  const purges = createInvalidationLog();
  const invalidations = createInvalidationLog();
  let used = 0;

  function isInvalidated(apiId: string, key: string, era: string): boolean {
    const [forgotten, dropped] = era.split('.').map(Number) as [number, number];
    return purges.isInvalidatedSince(apiId, forgotten) || invalidations.isInvalidatedSince(key, dropped);
  }

  function take(key: string): Slot | undefined {
    const slot = slots.get(key);
    if (slot && slots.delete(key)) used -= slot.bytes;
    return slot;
  }

  function put(key: string, slot: Slot): void {
    slots.set(key, slot);
    used += slot.bytes;
  }

  function drop(key: string): void {
    take(key);
    invalidations.add(key);
  }

  return {
    find(apiId, key) {
      const slot = take(key);
      const isFresh = slot !== undefined && slot.kept.expiresAtMs > clock.now();
      if (isFresh) put(key, slot);
      return {
        kept: isFresh ? slot.kept : undefined,
        era: `${purges.seen()}.${invalidations.seen()}`,
        turn: `${purges.versionOf(apiId)}.${invalidations.versionOf(key)}`,
      };
    },
    put(apiId, key, kept, era) {
      if (isInvalidated(apiId, key, era)) return;
      take(key);
      const bytes = estimateBytes(kept) + key.length;
      if (bytes > most) return;
      put(key, { apiId, kept, bytes });
      for (const oldest of slots.keys()) {
        if (used <= most) break;
        take(oldest);
      }
    },
    delete(_apiId, key) {
      drop(key);
      onDrop?.(key);
    },
    async purgeApi(apiId) {
      purges.add(apiId);
      for (const [key, slot] of slots) if (slot.apiId === apiId) take(key);
    },
    receiveInvalidation: drop,
    get usedBytes() {
      return used;
    },
  };
}
