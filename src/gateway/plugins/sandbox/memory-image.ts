import type { WasmMemory } from './webassembly.ts';
import { blockShift, markBytes, wasmPageBytes } from './write-barrier.ts';

/** Granularity of the search for data in free memory. */
const pageBytes = 4096;

/** Part of a memory; starts and ends with a page. */
interface Range {
  readonly start: number;
  readonly bytes: Uint8Array;
}

/**
 * Memory image: all of a WebAssembly memory from the stack to the end of its live data, zeros included, and the pages
 * behind it that the allocator has written. What a guest leaves in free memory is overwritten before it can be read.
 */
export interface MemoryImage {
  readonly ranges: readonly Range[];
  /** Size of the memory at the time. */
  readonly memoryBytes: number;
  readonly stackPointer: number;
}

/** Memory of a guest with a write barrier, see `write-barrier.ts`. */
export interface MarkedMemory {
  readonly memory: WasmMemory;
  /** A byte for each block that was written; behind them the ranges of the image, one behind the other. */
  readonly writtenBlocks: WasmMemory;
  restoreBlocks(firstMark: number, endMark: number, distance: number): void;
}

/** Marks what the host writes itself. */
export function markWritten({ writtenBlocks }: MarkedMemory, address: number, bytes: number): void {
  new Uint8Array(writtenBlocks.buffer).fill(1, address >>> blockShift, ((address + bytes) >>> blockShift) + 1);
}

/** Captures a memory whose live data ends before `liveEnd`. */
export function captureMemory(memory: WasmMemory, stackPointer: number, liveEnd: number): MemoryImage {
  const { buffer } = memory;
  const copy = (start: number, end: number): Range => ({ start, bytes: new Uint8Array(buffer.slice(start, end)) });
  const start = Math.floor(stackPointer / pageBytes) * pageBytes;
  const end = Math.ceil(liveEnd / pageBytes) * pageBytes;
  const ranges = [copy(start, end)];
  for (let offset = end; offset < buffer.byteLength; offset += pageBytes)
    if (!Buffer.from(buffer, offset, pageBytes).equals(zeros)) ranges.push(copy(offset, offset + pageBytes));
  return { ranges, memoryBytes: buffer.byteLength, stackPointer };
}

const zeros = Buffer.alloc(pageBytes);

/** Makes a memory that of an image, and clears its marks. */
export function replaceMemory({ memory, writtenBlocks }: MarkedMemory, { ranges }: MemoryImage): void {
  const imageBytes = ranges.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const missing = Math.ceil((markBytes + imageBytes - writtenBlocks.buffer.byteLength) / wasmPageBytes);
  if (missing > 0) writtenBlocks.grow(missing);
  const marks = new Uint8Array(writtenBlocks.buffer);
  let saved = markBytes;
  for (const { start, bytes } of ranges) {
    new Uint8Array(memory.buffer).set(bytes, start);
    marks.set(bytes, saved);
    marks.fill(0, start >>> blockShift, (start + bytes.length) >>> blockShift);
    saved += bytes.length;
  }
}

/** Copies the blocks that were written since `replaceMemory` with the same image. */
export function restoreMemory(guest: MarkedMemory, { ranges }: MemoryImage): void {
  let saved = markBytes;
  for (const { start, bytes } of ranges) {
    guest.restoreBlocks(start >>> blockShift, (start + bytes.length) >>> blockShift, start - saved);
    saved += bytes.length;
  }
}

/** Bytes that guests have written since the instance was created: marks behind an image are never cleared. */
export function countWrittenBytes({ memory, writtenBlocks }: MarkedMemory): number {
  const marks = new Uint8Array(writtenBlocks.buffer, 0, memory.buffer.byteLength >>> blockShift);
  let count = 0;
  for (let i = 0; i < marks.length; i++) count += marks[i]!;
  return count << blockShift;
}
