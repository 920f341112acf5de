import {
  extendedPrefix,
  f32,
  f64,
  getLocal,
  i32,
  i64,
  setLocal,
  teeLocal,
  type WasmReader,
  type WasmWriter,
} from './wasm-encoding.ts';

/**
 * Write barrier: every store of the module also marks the block of memory that it writes, in a second memory
 * (`writtenBlocks`, a byte for each block; behind them, saved blocks). Restoring an image then copies the blocks that a
 * call wrote, about 200 of 6,000, instead of all of them.
 */

/** Bytes of a block, as a power of two. */
export const blockShift = 6;
/** Memory that a guest can have: a store beyond it ends the guest. Twice what `plugins.max_memory_bytes` may be. */
const maxGuestBytes = 2 ** 29;
/** Marks of all blocks. Pages that are never written take no memory. */
export const markBytes = maxGuestBytes / 2 ** blockShift;
export const wasmPageBytes = 65_536;

const shiftRight = [0x41, blockShift, 0x76];
/** Stores 1 as a byte of the second memory, at the address below it on the stack. */
const storeMark = [0x41, 1, 0x3a, 0x40, 1, 0];
const shiftAndMark = [...shiftRight, ...storeMark];

/** Copies 16 bytes of a saved block to the block. */
const copyQuarter = (offset: number) => [
  ...[getLocal, 4, getLocal, 5],
  ...[0xfd, 0x00, 0x44, 1, offset],
  ...[0xfd, 0x0b, 0x04, offset],
];

/**
 * `restoreBlocks(mark, end, distance)`: clears the marks from the address `mark` to `end` in the second memory, eight at
 * a time, and copies each marked block from that memory, where it is `distance` bytes before. In the module, because a
 * loop of JavaScript takes several times as long.
 */
export const restoreBody = [
  ...[2, 3, i32, 1, i64],
  ...[0x02, 0x40, 0x03, 0x40],
  // Until mark >= end.
  ...[getLocal, 0, getLocal, 1, 0x4f, 0x0d, 1],
  // marks = load(mark); where there are none, continue with the next eight.
  ...[getLocal, 0, 0x29, 0x43, 1, 0, teeLocal, 6, 0x50],
  ...[0x04, 0x40, getLocal, 0, 0x41, 8, 0x6a, setLocal, 0, 0x0c, 1, 0x0b],
  ...[getLocal, 0, 0x42, 0, 0x37, 0x43, 1, 0],
  ...[getLocal, 0, setLocal, 3],
  // Where the lowest mark is set: address = block << blockShift, saved = address - distance, copy.
  ...[0x03, 0x40, getLocal, 6, 0xa7, 0x41, 1, 0x71, 0x04, 0x40],
  ...[getLocal, 3, 0x41, blockShift, 0x74, teeLocal, 4, getLocal, 2, 0x6b, setLocal, 5],
  ...[0, 16, 32, 48].flatMap(copyQuarter),
  0x0b,
  // Next block, while marks are left.
  ...[getLocal, 3, 0x41, 1, 0x6a, setLocal, 3],
  ...[getLocal, 6, 0x42, 8, 0x88, teeLocal, 6, 0x50, 0x45, 0x0d, 0, 0x0b],
  ...[getLocal, 0, 0x41, 8, 0x6a, setLocal, 0, 0x0c, 0, 0x0b, 0x0b, 0x0b],
];

/** Sizes of the values of stores in bytes, and their types, from `i32.store` on. */
const storeSizes = [4, 8, 4, 8, 1, 2, 1, 2, 4];
const storeTypes = [i32, i64, f32, f64, i32, i32, i64, i64, i64];

export function markStore(reader: WasmReader, out: WasmWriter, opcode: number, firstLocal: number): void {
  const alignment = reader.number();
  const offset = reader.number();
  const size = storeSizes[opcode - 0x36]!;
  const type = storeTypes[opcode - 0x36]!;
  const value = firstLocal + (type === i32 ? 1 : type === i64 ? 3 : type === f32 ? 4 : 5);
  out.instruction(setLocal, value);
  out.instruction(teeLocal, firstLocal);
  markAddress(out, offset);
  // A value that is not aligned may end in the next block.
  if (2 ** alignment < size) {
    out.instruction(getLocal, firstLocal);
    markAddress(out, offset + size - 1);
  }
  out.instruction(getLocal, firstLocal);
  out.instruction(getLocal, value);
}

/** Marks the block of the address on the stack plus an offset. */
function markAddress(out: WasmWriter, offset: number): void {
  if (offset !== 0) {
    out.constant(offset);
    out.write([0x6a]);
  }
  out.write(shiftAndMark);
}

/** Marks the blocks of an address, a source or value, and a length on the stack; returns the local of the length. */
export function markRange(out: WasmWriter, firstLocal: number): number {
  const [address, source, length] = [firstLocal, firstLocal + 1, firstLocal + 2];
  out.instruction(setLocal, length);
  out.instruction(setLocal, source);
  out.instruction(teeLocal, address);
  out.write([...shiftRight, 0x41, 1]);
  out.instruction(getLocal, address);
  out.instruction(getLocal, length);
  out.write([0x6a, ...shiftRight]);
  out.instruction(getLocal, address);
  out.write([...shiftRight, 0x6b, 0x41, 1, 0x6a]);
  out.write([extendedPrefix, 11, 1]);
  for (const index of [address, source, length]) out.instruction(getLocal, index);
  return length;
}
