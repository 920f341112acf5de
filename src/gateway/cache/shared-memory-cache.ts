import type { Clock } from '#base/clock.ts';
import { decodeItem, encodeItem, estimateBytes, type StoredItem } from './cache-entry.ts';
import type { ResponseCache } from './response-cache.ts';
import { openSlab, type SlabPlace } from './shared-slab.ts';

export interface SharedMemoryCacheOptions {
  /** Of `createSlabBuffer`; the same one in all threads. */
  readonly buffer: SharedArrayBuffer;
  /** Decoded copies in this thread. */
  readonly maxLocalBytes: number;
  readonly clock: Clock;
  /** Called once where the shared memory can no longer be used. */
  readonly onBroken?: () => void;
}

/** A decoded copy of an entry of the slab; valid while the entry is unchanged. */
interface LocalCopy extends SlabPlace {
  readonly item: StoredItem;
  readonly bytes: number;
  isUsed: boolean;
}

/** Copies larger than this part of the bound are not held: one would evict most others. */
const maxCopyShare = 1 / 4;

/** Decoded copies by cache key: second chance by insertion order, bounded by their estimated size. */
function createLocalCopies(maxBytes: number) {
  const copies = new Map<string, LocalCopy>();
  let usedBytes = 0;

  function remove(key: string): void {
    const copy = copies.get(key);
    if (copy && copies.delete(key)) usedBytes -= copy.bytes;
  }

  function evict(): void {
    for (const [key, copy] of copies) {
      if (usedBytes <= maxBytes) return;
      copies.delete(key);
      if (copy.isUsed) {
        copy.isUsed = false;
        copies.set(key, copy);
      } else usedBytes -= copy.bytes;
    }
  }

  return {
    get: (key: string): LocalCopy | undefined => copies.get(key),
    remove,
    add(key: string, { place, version }: SlabPlace, item: StoredItem): void {
      remove(key);
      const bytes = estimateBytes(item) + key.length;
      if (bytes > maxBytes * maxCopyShare) return;
      copies.set(key, { place, version, item, bytes, isUsed: false });
      usedBytes += bytes;
      evict();
    },
  };
}

/**
 * Response cache of all threads of the process: entries in shared memory, and in each thread decoded copies of those it
 * uses. A copy is used only while the entry in shared memory is the one it was made from.
 */
export function createSharedMemoryCache(options: SharedMemoryCacheOptions): ResponseCache {
  const { clock, maxLocalBytes, onBroken } = options;
  const slab = openSlab(options.buffer);
  const copies = createLocalCopies(maxLocalBytes);
  let isReported = false;

  function reportBroken(): void {
    if (isReported || !slab.isBroken()) return;
    isReported = true;
    onBroken?.();
  }

  function findItem(key: string): StoredItem | undefined {
    const copy = copies.get(key);
    if (copy !== undefined && slab.isCurrent(copy)) {
      copy.isUsed = true;
      return copy.item;
    }
    if (copy !== undefined) copies.remove(key);
    const entry = slab.read(key);
    const item = entry && decodeItem(entry.bytes, '');
    if (item) copies.add(key, entry, item);
    else reportBroken();
    return item;
  }

  return {
    find(apiId, key) {
      // Before the item: an invalidation in between makes the token invalid.
      const generation = slab.readGeneration(apiId, key);
      const item = findItem(key);
      const isFresh = item !== undefined && item.expiresAtMs > clock.now();
      return { item: isFresh ? item : undefined, writeToken: generation, generation };
    },
    put(apiId, key, item, writeToken, orgId = '') {
      copies.remove(key);
      const at = slab.write(apiId, key, encodeItem(item, ''), writeToken, orgId);
      if (at) copies.add(key, at, item);
    },
    delete(_apiId, key) {
      copies.remove(key);
      slab.remove(key);
    },
    async purgeApi(apiId) {
      slab.removeApi(apiId);
    },
  };
}
