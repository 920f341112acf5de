import { computeCorrection } from './reed-solomon.ts';

/** Versions of QR codes that this encoder writes: up to 666 bytes at error correction level M. */
export const maxQrVersion = 20;

/** By version, level M: error correction codewords of a block, and blocks (ISO/IEC 18004, table 9). */
const correctionCounts = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26];
const blockCounts = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];

/** Codewords of a version: the modules that no function pattern occupies, in bytes. */
function countCodewords(version: number): number {
  const alignments = version === 1 ? 0 : Math.floor(version / 7) + 2;
  const alignmentModules = version === 1 ? 0 : (25 * alignments - 10) * alignments - 55;
  const modules = (16 * version + 128) * version + 64 - alignmentModules - (version >= 7 ? 36 : 0);
  return Math.floor(modules / 8);
}

const countDataCodewords = (version: number) =>
  countCodewords(version) - correctionCounts[version - 1]! * blockCounts[version - 1]!;

/** Bits of the length of a text in byte mode. */
const lengthBits = (version: number) => (version < 10 ? 8 : 16);
const modeBits = 4;
const byteMode = 0b0100;

/** Smallest version that holds the bytes; undefined where none does. */
export const findQrVersion = (byteCount: number): number | undefined =>
  Array.from({ length: maxQrVersion }, (_, index) => index + 1).find(
    version => modeBits + lengthBits(version) + byteCount * 8 <= countDataCodewords(version) * 8,
  );

/** Data codewords: mode, length, bytes, terminator, then alternating pad bytes (section 7.4). */
export function buildDataCodewords(bytes: Uint8Array, version: number): Uint8Array {
  const capacity = countDataCodewords(version);
  const bits: number[] = [];
  const append = (value: number, count: number) => {
    for (let bit = count - 1; bit >= 0; bit--) bits.push((value >>> bit) & 1);
  };
  append(byteMode, modeBits);
  append(bytes.length, lengthBits(version));
  for (const byte of bytes) append(byte, 8);
  append(0, Math.min(modeBits, capacity * 8 - bits.length));
  append(0, (8 - (bits.length % 8)) % 8);
  const codewords = new Uint8Array(capacity);
  for (const [at, bit] of bits.entries()) codewords[at >>> 3]! |= bit << (7 - (at & 7));
  for (let at = bits.length / 8, pad = 0xec; at < capacity; at++, pad ^= 0xec ^ 0x11) codewords[at] = pad;
  return codewords;
}

/** Codewords in the order of the symbol: blocks interleaved, data before error correction (section 7.6). */
export function interleaveCodewords(data: Uint8Array, version: number): Uint8Array {
  const blockCount = blockCounts[version - 1]!;
  const correctionCount = correctionCounts[version - 1]!;
  const shortLength = Math.floor(data.length / blockCount);
  const shortBlocks = blockCount - (data.length % blockCount);
  const blocks: Uint8Array[] = [];
  for (let block = 0, at = 0; block < blockCount; block++) {
    const length = shortLength + (block < shortBlocks ? 0 : 1);
    blocks.push(data.subarray(at, at + length));
    at += length;
  }
  const corrections = blocks.map(block => computeCorrection(block, correctionCount));
  const interleave = (parts: readonly Uint8Array[], length: number) =>
    Array.from({ length }, (_, at) => parts.filter(part => at < part.length).map(part => part[at]!)).flat();
  return Uint8Array.from([...interleave(blocks, shortLength + 1), ...interleave(corrections, correctionCount)]);
}
