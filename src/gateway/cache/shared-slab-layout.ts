/**
 * Layout of the shared slab, in 4-byte words: header, owners, generations of APIs and of keys, hash buckets, one slot per
 * block; then the blocks themselves. An entry is a chain of blocks; the slot of its first block describes it. References to
 * blocks are stored plus one, so that 0 is none.
 */

/** An entry takes whole blocks: half of one is unused on average. */
export const blockBytes = 512;

export const header = { magic: 0, blocks: 1, lock: 2, isBroken: 3, free: 4, freeBlocks: 5, seed: 6 } as const;
export const headerWords = 16;
export const slabMagic = 0x67770002;

/** Organisations beyond this number share the room of another one. */
export const maxOwners = 64;
export const owner = { hash: 0, blocks: 1, newest: 2, oldest: 3 } as const;
export const ownerWords = 4;

/** APIs whose hashes collide here have invalidations in common: a response in flight is then not stored. */
export const apiGenerations = 64;

export const slot = {
  /** Next block of the entry, or of the free list. */
  next: 0,
  /** Next entry of the bucket. */
  chained: 1,
  /** 120 bits of the key's digest. */
  key: 2,
  newer: 6,
  older: 7,
  /** Changes whenever the block is allocated or freed. */
  version: 8,
  isUsed: 9,
  owner: 10,
  api: 11,
  /** Length of the entry; 0 where the block is not the first one of an entry. */
  bytes: 12,
} as const;
export const keyWords = 4;
export const slotWords = 13;

const wordBytes = 4;
const minTableSize = 64;

export interface SlabLayout {
  readonly blocks: number;
  /** Buckets, and generations of keys: a power of two. */
  readonly tableSize: number;
  readonly owners: number;
  readonly apiGenerations: number;
  readonly keyGenerations: number;
  readonly buckets: number;
  readonly slots: number;
  /** In bytes. */
  readonly data: number;
  readonly totalBytes: number;
}

export function layOutSlab(blocks: number): SlabLayout {
  const tableSize = Math.max(minTableSize, 2 ** Math.floor(Math.log2(Math.max(1, blocks))));
  const owners = headerWords;
  const apis = owners + maxOwners * ownerWords;
  const keys = apis + apiGenerations;
  const buckets = keys + tableSize;
  const slots = buckets + tableSize;
  const data = (slots + blocks * slotWords) * wordBytes;
  return {
    blocks,
    tableSize,
    owners,
    apiGenerations: apis,
    keyGenerations: keys,
    buckets,
    slots,
    data,
    totalBytes: data + blocks * blockBytes,
  };
}

/** Blocks of the largest slab of at most `maxBytes`, its tables included; 0 where it has no room for one. */
export function countBlocks(maxBytes: number): number {
  const tables = layOutSlab(0).data - 2 * minTableSize * wordBytes;
  const perBlock = blockBytes + (slotWords + 2) * wordBytes;
  return Math.max(0, Math.floor((maxBytes - tables) / perBlock));
}
