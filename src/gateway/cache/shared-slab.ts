import { hash } from 'node:crypto';
import { createPublicId } from '#base/ids.ts';
import { createNameHash } from '#storage/shared/name-hash.ts';
import {
  apiGenerations,
  blockBytes,
  countBlocks,
  header,
  keyWords,
  layOutSlab,
  slabMagic,
  slot,
  slotWords,
} from './shared-slab-layout.ts';
import { createSlabLock } from './shared-slab-lock.ts';
import { createSlabOwners } from './shared-slab-owners.ts';

/** Where an entry is, until its version changes. */
export interface SlabPlace {
  readonly place: number;
  readonly version: number;
}

export interface SlabEntry extends SlabPlace {
  readonly bytes: Buffer;
}

/**
 * Byte strings by key in one SharedArrayBuffer, for all threads of the process: what one thread writes or removes, the
 * others see at once. One lock guards it. The least recently used entries of the organisation with the most blocks are
 * evicted first, so that no organisation takes the room of another one.
 */
export interface SharedSlab {
  /** Changes when the key is removed, or all keys of the API. */
  readGeneration(apiId: string, key: string): string;
  read(key: string): SlabEntry | undefined;
  /** True while the entry is unchanged; marks it as used. Takes no lock. */
  isCurrent(at: SlabPlace): boolean;
  /** Undefined where it is too large, and where `generation` has changed, of this key or another one. */
  write(apiId: string, key: string, bytes: Buffer, generation: string, orgId: string): SlabPlace | undefined;
  remove(key: string): void;
  removeApi(apiId: string): void;
  /** Blocks in use. */
  countUsedBlocks(): number;
  /** A thread ended while it held the lock: every lookup is a miss from then on. */
  isBroken(): boolean;
}

/** Undefined where `maxBytes` has no room for an entry. */
export function createSlabBuffer(maxBytes: number): SharedArrayBuffer | undefined {
  const blocks = countBlocks(maxBytes);
  if (blocks === 0) return undefined;
  const layout = layOutSlab(blocks);
  const words = new Int32Array(new SharedArrayBuffer(layout.totalBytes), 0, layout.data / 4);
  words[header.blocks] = blocks;
  words[header.freeBlocks] = blocks;
  words[header.free] = 1;
  const seed = Buffer.from(createPublicId(), 'hex');
  words[header.seed] = seed.readInt32LE(0);
  words[header.seed + 1] = seed.readInt32LE(4);
  words[header.magic] = slabMagic;
  return words.buffer as SharedArrayBuffer;
}

/** Views and lists of a slab. */
function openParts(buffer: SharedArrayBuffer) {
  const start = new Int32Array(buffer, 0, header.seed + 2);
  if (start[header.magic] !== slabMagic) throw new Error('This buffer was not made for cached responses.');
  const layout = layOutSlab(start[header.blocks]!);
  const words = new Int32Array(buffer, 0, layout.data / 4);
  const names = createNameHash(words[header.seed]!, words[header.seed + 1]!);
  return {
    words,
    layout,
    /** The key of the current operation. */
    digest: new Int32Array(keyWords),
    index: createIndex(words, layout),
    chains: createChains(words, layout, new Uint8Array(buffer)),
    owners: createSlabOwners(words, layout),
    slotAt: (place: number) => layout.slots + place * slotWords,
    hashName(name: string): number {
      names.hash(name);
      return names.halves[0]!;
    },
  };
}

type Parts = ReturnType<typeof openParts>;

/** Counters of invalidations by API and by key; several of each have one in common. */
function createGenerations({ words, layout, digest }: Parts) {
  const apiAt = (api: number) => layout.apiGenerations + (api & (apiGenerations - 1));
  const keyAt = () => layout.keyGenerations + (digest[0]! & (layout.tableSize - 1));
  return {
    /** Names its places in the tables: variants are stored with the generation of the primary key. */
    format(api: number): string {
      const [atApi, atKey] = [apiAt(api), keyAt()];
      return `${atApi}.${Atomics.load(words, atApi)}.${atKey}.${Atomics.load(words, atKey)}`;
    },
    isCurrent(text: string): boolean {
      const [apiPlace = 0, api, keyPlace = 0, key] = text.split('.').map(Number);
      return words[apiPlace] === api && words[keyPlace] === key;
    },
    invalidateApi: (api: number) => void Atomics.add(words, apiAt(api), 1),
    invalidateKey: () => void Atomics.add(words, keyAt(), 1),
  };
}

/** Entries with all the lists that they are in. */
function createEntries({ words, index, chains, owners, digest, slotAt, hashName }: Parts) {
  function remove(place: number): void {
    index.unlink(place);
    owners.unlink(place, chains.countBlocks(place));
    chains.free(place);
  }

  return {
    remove,
    insert(api: number, bytes: Buffer, orgId: string): SlabPlace {
      const blocks = Math.ceil(bytes.length / blockBytes);
      const ownerOfEntry = owners.find(hashName(orgId));
      while (words[header.freeBlocks]! < blocks) remove(owners.findVictim(ownerOfEntry, blocks));
      const place = chains.allocate(bytes, blocks);
      words[slotAt(place) + slot.api] = api;
      index.link(place, digest);
      owners.link(place, ownerOfEntry, blocks);
      return { place, version: words[slotAt(place) + slot.version]! };
    },
  };
}

export function openSlab(buffer: SharedArrayBuffer): SharedSlab {
  const parts = openParts(buffer);
  const { words, layout, index, chains, digest, slotAt, hashName } = parts;
  const lock = createSlabLock(words);
  const generations = createGenerations(parts);
  const entries = createEntries(parts);
  return {
    readGeneration(apiId, key) {
      parseDigest(key, digest);
      return generations.format(hashName(apiId));
    },
    read(key) {
      parseDigest(key, digest);
      return lock.run(() => {
        const place = index.find(digest);
        if (place < 0) return undefined;
        words[slotAt(place) + slot.isUsed] = 1;
        return { place, version: words[slotAt(place) + slot.version]!, bytes: chains.copy(place) };
      });
    },
    isCurrent({ place, version }) {
      const at = slotAt(place);
      if (Atomics.load(words, at + slot.version) !== version || lock.isBroken()) return false;
      words[at + slot.isUsed] = 1;
      return true;
    },
    write(apiId, key, bytes, generation, orgId) {
      if (bytes.length === 0 || bytes.length > layout.blocks * blockBytes) return undefined;
      const api = hashName(apiId);
      parseDigest(key, digest);
      return lock.run(() => {
        if (!generations.isCurrent(generation)) return undefined;
        const previous = index.find(digest);
        if (previous >= 0) entries.remove(previous);
        return entries.insert(api, bytes, orgId);
      });
    },
    remove(key) {
      parseDigest(key, digest);
      lock.run(() => {
        generations.invalidateKey();
        const place = index.find(digest);
        if (place >= 0) entries.remove(place);
      });
    },
    removeApi(apiId) {
      const api = hashName(apiId);
      lock.run(() => {
        generations.invalidateApi(api);
        for (let place = 0; place < layout.blocks; place++)
          if (words[slotAt(place) + slot.bytes] !== 0 && words[slotAt(place) + slot.api] === api) entries.remove(place);
      });
    },
    countUsedBlocks: () => layout.blocks - Atomics.load(words, header.freeBlocks),
    isBroken: lock.isBroken,
  };
}

type Layout = ReturnType<typeof layOutSlab>;

const digestCharacters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const digestCodes = new Uint8Array(128);
for (let code = 0; code < digestCharacters.length; code++) digestCodes[digestCharacters.charCodeAt(code)] = code;
/** Of SHA-256 in base64url. */
const digestLength = 43;
const charactersPerWord = 5;

/** The first 120 bits of a digest; other keys are hashed first. */
function parseDigest(key: string, into: Int32Array): void {
  const text = key.length === digestLength ? key : hash('sha256', key, 'base64url');
  let at = 0;
  for (let word = 0; word < keyWords; word++) {
    let bits = 0;
    for (let n = 0; n < charactersPerWord; n++) bits = (bits << 6) | digestCodes[text.charCodeAt(at++)]!;
    into[word] = bits;
  }
}

/** Hash table of first blocks, chained by their slots. */
function createIndex(words: Int32Array, { buckets, tableSize, slots }: Layout) {
  const slotAt = (place: number) => slots + place * slotWords;
  const bucketAt = (key: number) => buckets + (key & (tableSize - 1));
  const hasKey = (place: number, digest: Int32Array) => {
    const at = slotAt(place) + slot.key;
    for (let word = 0; word < keyWords; word++) if (words[at + word] !== digest[word]) return false;
    return true;
  };
  return {
    find(digest: Int32Array): number {
      let place = words[bucketAt(digest[0]!)]! - 1;
      while (place >= 0 && !hasKey(place, digest)) place = words[slotAt(place) + slot.chained]! - 1;
      return place;
    },
    link(place: number, digest: Int32Array): void {
      words.set(digest, slotAt(place) + slot.key);
      words[slotAt(place) + slot.chained] = words[bucketAt(digest[0]!)]!;
      words[bucketAt(digest[0]!)] = place + 1;
    },
    unlink(place: number): void {
      let at = bucketAt(words[slotAt(place) + slot.key]!);
      while (words[at] !== place + 1) at = slotAt(words[at]! - 1) + slot.chained;
      words[at] = words[slotAt(place) + slot.chained]!;
    },
  };
}

/** Runs of adjacent blocks in chains: they are copied together. */
function createRuns(words: Int32Array, { slots, data }: Layout) {
  const slotAt = (block: number) => slots + block * slotWords;
  /** Unset: the adjacent block. So the list of free blocks needs no initialization, which would commit the memory. */
  const nextOf = (block: number) => (words[slotAt(block) + slot.next]! || block + 2) - 1;
  return {
    slotAt,
    nextOf,
    findLast(first: number, blocks: number): number {
      let last = first;
      for (let n = 1; n < blocks; n++) last = nextOf(last);
      return last;
    },
    /** Calls `visit` for each run of a chain, with its bounds in the slab and its offset in the entry. */
    forEach(first: number, length: number, visit: (start: number, end: number, offset: number) => void): void {
      let offset = 0;
      for (let block = first; offset < length; ) {
        let last = block;
        let runBytes = blockBytes;
        while (offset + runBytes < length && nextOf(last) === last + 1) {
          last++;
          runBytes += blockBytes;
        }
        const size = Math.min(runBytes, length - offset);
        visit(data + block * blockBytes, data + block * blockBytes + size, offset);
        offset += size;
        block = nextOf(last);
      }
    },
  };
}

/** Chains of blocks, and the list of free ones. */
function createChains(words: Int32Array, layout: Layout, bytes: Uint8Array) {
  const { slotAt, nextOf, findLast, forEach } = createRuns(words, layout);
  const blocksFor = (length: number) => Math.ceil(length / blockBytes);
  return {
    countBlocks: (place: number): number => blocksFor(words[slotAt(place) + slot.bytes]!),
    allocate(entry: Buffer, blocks: number): number {
      const place = words[header.free]! - 1;
      words[header.free] = nextOf(findLast(place, blocks)) + 1;
      words[header.freeBlocks] = words[header.freeBlocks]! - blocks;
      words[slotAt(place) + slot.bytes] = entry.length;
      words[slotAt(place) + slot.isUsed] = 0;
      forEach(place, entry.length, (start, end, offset) => {
        bytes.set(entry.subarray(offset, offset + end - start), start);
      });
      Atomics.add(words, slotAt(place) + slot.version, 1);
      return place;
    },
    copy(place: number): Buffer {
      const length = words[slotAt(place) + slot.bytes]!;
      const copy = Buffer.allocUnsafeSlow(length);
      forEach(place, length, (start, end, offset) => copy.set(bytes.subarray(start, end), offset));
      return copy;
    },
    free(place: number): void {
      const blocks = blocksFor(words[slotAt(place) + slot.bytes]!);
      words[slotAt(findLast(place, blocks)) + slot.next] = words[header.free]!;
      words[header.free] = place + 1;
      words[header.freeBlocks] = words[header.freeBlocks]! + blocks;
      words[slotAt(place) + slot.bytes] = 0;
      Atomics.add(words, slotAt(place) + slot.version, 1);
    },
  };
}
