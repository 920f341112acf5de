import type { WasmMemory } from './webassembly.ts';

/** Granularity of the search for data in free memory. */
const pageBytes = 4096;

interface Range {
  readonly offset: number;
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

/** Captures a memory whose live data ends before `liveEnd`. */
export function captureMemory(memory: WasmMemory, stackPointer: number, liveEnd: number): MemoryImage {
  const { buffer } = memory;
  const copy = (start: number, end: number): Range => ({
    offset: start,
    bytes: new Uint8Array(buffer.slice(start, end)),
  });
  const ranges = [copy(stackPointer, liveEnd)];
  for (let offset = liveEnd; offset < buffer.byteLength; offset += pageBytes) {
    const end = Math.min(offset + pageBytes, buffer.byteLength);
    if (!isZero(Buffer.from(buffer, offset, end - offset))) ranges.push(copy(offset, end));
  }
  return { ranges, memoryBytes: buffer.byteLength, stackPointer };
}

export function restoreMemory(memory: WasmMemory, image: MemoryImage): void {
  const bytes = new Uint8Array(memory.buffer);
  for (const range of image.ranges) bytes.set(range.bytes, range.offset);
}

const zeros = Buffer.alloc(pageBytes);
const isZero = (page: Buffer): boolean =>
  page.equals(page.length === pageBytes ? zeros : zeros.subarray(0, page.length));
