import { threadId } from 'node:worker_threads';
import { createPublicId } from '#base/ids.ts';
import { createNameHash, type NameHash } from './name-hash.ts';
import { maxSlidingRuns } from './shared.ts';

/**
 * Set-associative hash tables in one SharedArrayBuffer: a header, then two tables. A name's hash selects a bucket,
 * which has its own lock; its slot is one of the bucket's ways. The size is fixed and slots never move, so a lookup
 * scans a few adjacent words.
 *
 * A name is identified by its 64-bit hash alone: two names that collide (odds of 10^-10 among fifty thousand) share a
 * counter.
 */

/** Layout of one table, in 4-byte words. */
interface Region {
  readonly firstWord: number;
  readonly buckets: number;
  readonly ways: number;
  /** 8-byte numbers per slot besides hash and end. */
  readonly fields: number;
  readonly bucketWords: number;
}

export interface Memory {
  readonly buffer: SharedArrayBuffer;
  /** Distinguishes this buffer's messages from those of another in the same process. */
  readonly id: string;
  readonly fixedTable: Table;
  readonly slidingTable: Table;
  /** Evictions of open counters from full buckets. */
  evictions(): number;
}

export interface MemorySize {
  /**
   * Capacity for fixed windows; 44 bytes each, committed as they fill. Buckets fill unevenly, and some are full when
   * the table is half full: allow for four times the open windows.
   */
  fixedWindows: number;
  /** Capacity for sliding windows, likewise; 1088 bytes each. */
  slidingWindows: number;
}

/** Hash table of slots. Between `lock` and `unlock` a thread owns the bucket and may neither wait nor throw. */
export interface Table {
  readonly numbers: Float64Array;
  /** Locks the bucket of a name; returns its offset. */
  lock(name: string): number;
  unlock(bucket: number): void;
  /** Way of the name that was locked, or -1. */
  find(bucket: number): number;
  /** Zeroed way for that name: a free or expired one, or else evicts the one that ends soonest. */
  allocate(bucket: number, nowMs: number): number;
  free(bucket: number, way: number): void;
  /** Index in `numbers` of a way's end, and of its first field. */
  endAt(bucket: number, way: number): number;
  fieldsAt(bucket: number, way: number): number;
}

const cacheLineWords = 16;
const headerWords = 16;
const magic = 0x67770001;
const header = { magic: 0, fixedBuckets: 1, slidingBuckets: 2, evictions: 3, seed: 4 };
const seedWords = 4;

const fixedShape = { ways: 16, fields: 3 };
const slidingShape = { ways: 8, fields: 5 + 2 * maxSlidingRuns };

export function createMemory(size: MemorySize): Memory {
  const fixedBuckets = bucketsFor(size.fixedWindows, fixedShape.ways);
  const slidingBuckets = bucketsFor(size.slidingWindows, slidingShape.ways);
  const { totalWords } = layOutRegions(fixedBuckets, slidingBuckets);
  const words = new Int32Array(new SharedArrayBuffer(totalWords * 4));
  words[header.fixedBuckets] = fixedBuckets;
  words[header.slidingBuckets] = slidingBuckets;
  const seed = Buffer.from(createPublicId(), 'hex');
  for (let word = 0; word < seedWords; word++) words[header.seed + word] = seed.readInt32LE(word * 4);
  words[header.magic] = magic;
  return openMemory(words.buffer);
}

export function openMemory(buffer: SharedArrayBuffer): Memory {
  const words = new Int32Array(buffer);
  if (words[header.magic] !== magic) throw new Error('This buffer was not made for shared counters.');
  const names = createNameHash(words[header.seed]!, words[header.seed + 1]!);
  const { fixed, sliding } = layOutRegions(words[header.fixedBuckets]!, words[header.slidingBuckets]!);
  return {
    buffer,
    id: `${words[header.seed + 2]}.${words[header.seed + 3]}`,
    fixedTable: createTable(words, fixed, names),
    slidingTable: createTable(words, sliding, names),
    evictions: () => Atomics.load(words, header.evictions),
  };
}

/** A power of two, so that a mask selects the bucket. */
const bucketsFor = (slots: number, ways: number): number => 2 ** Math.ceil(Math.log2(Math.max(1, slots / ways)));

function layOutRegions(fixedBuckets: number, slidingBuckets: number) {
  const fixed = layOutRegion(headerWords, fixedBuckets, fixedShape);
  const sliding = layOutRegion(fixed.firstWord + fixed.buckets * fixed.bucketWords, slidingBuckets, slidingShape);
  return { fixed, sliding, totalWords: sliding.firstWord + sliding.buckets * sliding.bucketWords };
}

function layOutRegion(firstWord: number, buckets: number, { ways, fields }: { ways: number; fields: number }): Region {
  // The lock has its own cache line; then hashes, ends and fields, two words each.
  const bucketWords = cacheLineWords + ways * 2 * (1 + 1 + fields);
  return { firstWord, buckets, ways, fields, bucketWords: Math.ceil(bucketWords / cacheLineWords) * cacheLineWords };
}

function createTable(
  words: Int32Array,
  { firstWord, buckets, ways, fields, bucketWords }: Region,
  names: NameHash,
): Table {
  const hash = names.halves;
  const numbers = new Float64Array(words.buffer);
  const mask = buckets - 1;
  const { lock, unlock } = createLocks(words);
  const endAt = (bucket: number, way: number) => ((bucket + cacheLineWords) >> 1) + ways + way;
  const fieldsAt = (bucket: number, way: number) => ((bucket + cacheLineWords) >> 1) + 2 * ways + way * fields;

  function lockBucket(name: string): number {
    names.hash(name);
    const bucket = firstWord + (hash[0]! & mask) * bucketWords;
    lock(bucket);
    return bucket;
  }

  function find(bucket: number): number {
    const low = hash[0]!;
    const high = hash[1]!;
    for (let way = 0, at = bucket + cacheLineWords; way < ways; way++, at += 2) {
      if (words[at] === low && words[at + 1] === high) return way;
    }
    return -1;
  }

  function allocate(bucket: number, nowMs: number): number {
    let soonest = 0;
    let soonestEnd = Number.POSITIVE_INFINITY;
    for (let way = 0, at = bucket + cacheLineWords; way < ways; way++, at += 2) {
      const end = words[at] === 0 && words[at + 1] === 0 ? Number.NEGATIVE_INFINITY : numbers[endAt(bucket, way)]!;
      if (end < soonestEnd) {
        soonest = way;
        soonestEnd = end;
      }
    }
    if (soonestEnd > nowMs) Atomics.add(words, header.evictions, 1);
    const first = fieldsAt(bucket, soonest);
    numbers.fill(0, first, first + fields);
    numbers[endAt(bucket, soonest)] = 0;
    writeHash(words, bucket, soonest, hash[0]!, hash[1]!);
    return soonest;
  }

  return {
    numbers,
    lock: lockBucket,
    unlock,
    find,
    allocate,
    free: (bucket, way) => writeHash(words, bucket, way, 0, 0),
    endAt,
    fieldsAt,
  };
}

function writeHash(words: Int32Array, bucket: number, way: number, low: number, high: number): void {
  words[bucket + cacheLineWords + way * 2] = low;
  words[bucket + cacheLineWords + way * 2 + 1] = high;
}

const maxSpins = 100;
const waitMs = 1;
/** A thread holds a bucket for well under a microsecond; a holder that keeps it this long was terminated. */
const maxWaitsForHolder = 250;

/**
 * Spin lock, then futex wait. A thread holds one lock at a time; each acquisition has a ticket, so that a waiter
 * detects a terminated holder.
 */
function createLocks(words: Int32Array) {
  let ticket = 0;
  let lockWord = 0;

  function lock(at: number): void {
    ticket = (ticket + 1) & 0xffffff;
    lockWord = ((threadId + 1) << 24) | ticket || 1;
    if (Atomics.compareExchange(words, at, 0, lockWord) !== 0) wait(at);
  }

  function wait(at: number): void {
    let holder = 0;
    let waits = 0;
    for (let tries = 0; ; tries++) {
      const seen = Atomics.compareExchange(words, at, 0, lockWord);
      if (seen === 0) return;
      if (tries < maxSpins) continue;
      if (seen !== holder) {
        holder = seen;
        waits = 0;
      }
      if (++waits > maxWaitsForHolder && Atomics.compareExchange(words, at, seen, lockWord) === seen) return;
      Atomics.wait(words, at, seen, waitMs);
    }
  }

  return { lock, unlock: (at: number) => void Atomics.compareExchange(words, at, lockWord, 0) };
}
