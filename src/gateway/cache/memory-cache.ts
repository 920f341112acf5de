import type { Clock } from '#base/clock.ts';
import { type Kept, sizeOf } from './entry.ts';
import { dropLog } from './invalidation-log.ts';
import type { Responses } from './response-cache.ts';

export interface MemoryOptions {
  /** The most it takes; what was not asked for the longest goes first. */
  readonly bytes: number;
  readonly clock: Clock;
  /** Tells the other threads that an answer is no longer true. */
  readonly onDrop?: (key: string) => void;
}

interface Slot {
  readonly apiId: string;
  readonly kept: Kept;
  readonly bytes: number;
}

export interface MemoryResponses extends Responses {
  /** Drops what another thread dropped. */
  hear(key: string): void;
  readonly usedBytes: number;
}

/** Answers in the memory of one thread. A map holds its entries in the order they were put in: the oldest is the first. */
export function memoryResponses({ bytes: most, clock, onDrop }: MemoryOptions): MemoryResponses {
  const slots = new Map<string, Slot>();
  /** APIs whose answers were forgotten, and single answers that were dropped. */
  const forgets = dropLog();
  const drops = dropLog();
  let used = 0;

  function isPast(apiId: string, key: string, era: string): boolean {
    const [forgotten, dropped] = era.split('.').map(Number) as [number, number];
    return forgets.isDroppedSince(apiId, forgotten) || drops.isDroppedSince(key, dropped);
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
    drops.add(key);
  }

  return {
    find(apiId, key) {
      const slot = take(key);
      const isFresh = slot !== undefined && slot.kept.expiresAtMs > clock.now();
      if (isFresh) put(key, slot);
      return {
        kept: isFresh ? slot.kept : undefined,
        era: `${forgets.seen()}.${drops.seen()}`,
        turn: `${forgets.turnOf(apiId)}.${drops.turnOf(key)}`,
      };
    },
    keep(apiId, key, kept, era) {
      if (isPast(apiId, key, era)) return;
      take(key);
      const bytes = sizeOf(kept) + key.length;
      if (bytes > most) return;
      put(key, { apiId, kept, bytes });
      for (const oldest of slots.keys()) {
        if (used <= most) break;
        take(oldest);
      }
    },
    drop(_apiId, key) {
      drop(key);
      onDrop?.(key);
    },
    async forget(apiId) {
      forgets.add(apiId);
      for (const [key, slot] of slots) if (slot.apiId === apiId) take(key);
    },
    hear: drop,
    get usedBytes() {
      return used;
    },
  };
}
