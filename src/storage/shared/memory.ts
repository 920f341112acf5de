import { threadId } from 'node:worker_threads';
import { createPublicId } from '#base/ids.ts';
import { createNameHash, type NameHash } from './name-hash.ts';
import { maxSlidingRuns } from './shared.ts';

/**
 * The one SharedArrayBuffer of a process: a header, then two tables. A table is split into small buckets, each behind
 * its own lock; a name's hash chooses the bucket, and its slot is one of the bucket's ways. What fits is bounded and
 * nothing ever moves, so that finding a slot is a scan of a few neighbouring words.
 *
 * A name is known by its 64-bit hash alone. Two names that meet (one chance in 10^10 among fifty thousand) share a
 * counter.
 */

/** Where one table lies, in words of four bytes. */
interface Region {
  readonly firstWord: number;
  readonly buckets: number;
  readonly ways: number;
  /** Numbers of eight bytes that one slot carries besides its hash and its end. */
  readonly fields: number;
  readonly bucketWords: number;
}

export interface Memory {
  readonly buffer: SharedArrayBuffer;
  /** Tells this buffer's messages from those of another in the same process. */
  readonly id: string;
  readonly fixedTable: Table;
  readonly slidingTable: Table;
  /** How often a slot still in use was given away because its bucket was full. */
  evictions(): number;
}

export interface MemorySize {
  /**
   * Fixed windows that there is room for; 44 bytes each, used only as they fill. Buckets fill unevenly, and some are
   * full when the table is half full: allow for four times as many as will be open.
   */
  fixedWindows: number;
  /** Sliding logs, likewise; 1088 bytes each. */
  slidingWindows: number;
}

/** One table of slots. From `enter` to `leave` a thread has the bucket to itself, and may neither wait nor throw. */
export interface Table {
  readonly numbers: Float64Array;
  /** Locks the bucket of a name and returns where it begins. */
  lock(name: string): number;
  unlock(bucket: number): void;
  /** The way of the name entered with, or -1. */
  find(bucket: number): number;
  /** A zeroed way for that name: a free or ended one, or else the one that would have ended soonest. */
  allocate(bucket: number, nowMs: number): number;
  free(bucket: number, way: number): void;
  /** Where in `numbers` a way keeps its end, and where its fields begin. */
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
  const { windows, logs } = layOutRegions(words[header.fixedBuckets]!, words[header.slidingBuckets]!);
  return {
    buffer,
    id: `${words[header.seed + 2]}.${words[header.seed + 3]}`,
    fixedTable: createTable(words, windows, names),
    slidingTable: createTable(words, logs, names),
    evictions: () => Atomics.load(words, header.evictions),
  };
}

/** A power of two, so that a hash finds its bucket with a mask. */
const bucketsFor = (slots: number, ways: number): number => 2 ** Math.ceil(Math.log2(Math.max(1, slots / ways)));

function layOutRegions(fixedBuckets: number, slidingBuckets: number) {
  const fixed = layOutRegion(headerWords, fixedBuckets, fixedShape);
  const sliding = layOutRegion(fixed.firstWord + fixed.buckets * fixed.bucketWords, slidingBuckets, slidingShape);
  return { windows: fixed, logs: sliding, totalWords: sliding.firstWord + sliding.buckets * sliding.bucketWords };
}

function layOutRegion(firstWord: number, buckets: number, { ways, fields }: { ways: number; fields: number }): Region {
  // The lock has a cache line of its own; then hashes, ends and fields, two words each.
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
    writeHash(bucket, soonest, hash[0]!, hash[1]!);
    return soonest;
  }

  function writeHash(bucket: number, way: number, low: number, high: number): void {
    words[bucket + cacheLineWords + way * 2] = low;
    words[bucket + cacheLineWords + way * 2 + 1] = high;
  }

  return {
    numbers,
    lock: lockBucket,
    unlock: unlock,
    find,
    allocate,
    free: (bucket, way) => writeHash(bucket, way, 0, 0),
    endAt,
    fieldsAt,
  };
}

const maxSpins = 100;
const waitMs = 1;
/** A thread inside a bucket is done in well under a microsecond; one that kept it this long was ended in there. */
const maxWaitsForHolder = 250;

/** One lock is held at a time by a thread. Each taking has a ticket, so that a waiter can tell a dead holder. */
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
