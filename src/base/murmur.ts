/** MurmurHash3 over UTF-8 bytes, printed big-endian. Not cryptographic: it proves nothing. */

const rotate32 = (value: number, by: number) => (value << by) | (value >>> (32 - by));

function scramble32(block: number): number {
  return Math.imul(rotate32(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
}

/** The 32-bit hash as eight hexadecimal characters. */
export function murmur32(text: string, seed = 0): string {
  const bytes = Buffer.from(text);
  const blocksEnd = bytes.length & ~3;
  let hash = seed | 0;
  for (let at = 0; at < blocksEnd; at += 4) {
    hash = (Math.imul(rotate32(hash ^ scramble32(bytes.readInt32LE(at)), 13), 5) + 0xe6546b64) | 0;
  }
  if (blocksEnd < bytes.length) hash ^= scramble32(bytes.readUIntLE(blocksEnd, bytes.length - blocksEnd));
  hash ^= bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0).toString(16).padStart(8, '0');
}

const mask = 0xffff_ffff_ffff_ffffn;
const c1 = 0x87c37b91114253d5n;
const c2 = 0x4cf5ad432745937fn;

const times = (a: bigint, b: bigint) => (a * b) & mask;
const plus = (a: bigint, b: bigint) => (a + b) & mask;
const rotate64 = (value: bigint, by: bigint) => ((value << by) & mask) | (value >> (64n - by));
const scramble1 = (block: bigint) => times(rotate64(times(block, c1), 31n), c2);
const scramble2 = (block: bigint) => times(rotate64(times(block, c2), 33n), c1);

function finish64(given: bigint): bigint {
  let value = times(given ^ (given >> 33n), 0xff51afd7ed558ccdn);
  value = times(value ^ (value >> 33n), 0xc4ceb9fe1a85ec53n);
  return value ^ (value >> 33n);
}

/** Both halves of the 128-bit hash in its form for 64-bit machines. */
function halves(text: string): [bigint, bigint] {
  const bytes = Buffer.from(text);
  const blocksEnd = bytes.length & ~15;
  let h1 = 0n;
  let h2 = 0n;
  for (let at = 0; at < blocksEnd; at += 16) {
    h1 = plus(rotate64(h1 ^ scramble1(bytes.readBigUInt64LE(at)), 27n), h2);
    h1 = plus(times(h1, 5n), 0x52dce729n);
    h2 = plus(rotate64(h2 ^ scramble2(bytes.readBigUInt64LE(at + 8)), 31n), h1);
    h2 = plus(times(h2, 5n), 0x38495ab5n);
  }
  // A block of zeros changes nothing, so the last bytes may be padded to a whole block.
  const rest = Buffer.alloc(16);
  bytes.copy(rest, 0, blocksEnd);
  h1 ^= scramble1(rest.readBigUInt64LE(0));
  h2 ^= scramble2(rest.readBigUInt64LE(8));
  const length = BigInt(bytes.length);
  h1 = plus(h1 ^ length, h2 ^ length);
  h2 = plus(h2 ^ length, h1);
  h1 = finish64(h1);
  h2 = finish64(h2);
  h1 = plus(h1, h2);
  return [h1, plus(h2, h1)];
}

const hex64 = (value: bigint) => value.toString(16).padStart(16, '0');

/** The first half of the 128-bit hash, as sixteen hexadecimal characters. */
export function murmur64(text: string): string {
  return hex64(halves(text)[0]);
}

/** The 128-bit hash as 32 hexadecimal characters. */
export function murmur128(text: string): string {
  return halves(text).map(hex64).join('');
}
