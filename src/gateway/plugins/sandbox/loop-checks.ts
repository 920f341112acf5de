import { getLocal, i32, teeLocal, type WasmWriter } from './wasm-encoding.ts';

/**
 * Loop checks: every loop of the module counts its iterations down in a global and calls the host each time the count is
 * used up, so that native code that does not end is interrupted like a script. QuickJS itself polls in bytecode only.
 */

/** Iterations between two calls of the host: 20 to 100 µs. */
const iterationsPerCheck = 8192;
/** Bytes that `memory.copy` and `memory.fill` write in the time of an iteration, as a power of two. */
const copyShift = 6;

const getGlobal = 0x23;
const setGlobal = 0x24;

/** Indices in the rewritten module. */
export interface LoopCheck {
  readonly countGlobal: number;
  /** Imported function without parameters that returns a number. */
  readonly interruptFunction: number;
}

/** Entry of the global section: a variable number. */
export function encodeCountGlobal(out: WasmWriter): void {
  out.write([i32, 1]);
  out.constant(iterationsPerCheck);
  out.write([0x0b]);
}

/** Counts an iteration, at the start of a loop. */
export function checkLoop(out: WasmWriter, { countGlobal, interruptFunction }: LoopCheck, scratchLocal: number): void {
  out.instruction(getGlobal, countGlobal);
  out.write([0x41, 1, 0x6b]);
  out.instruction(teeLocal, scratchLocal);
  out.instruction(setGlobal, countGlobal);
  out.instruction(getLocal, scratchLocal);
  // if (count < 0)
  out.write([0x41, 0, 0x48, 0x04, 0x40]);
  out.instruction(0x10, interruptFunction);
  out.write([0x1a]);
  out.constant(iterationsPerCheck);
  out.instruction(setGlobal, countGlobal);
  out.write([0x0b]);
}

/** Counts the bytes of a copy, whose number is in a local. The next loop checks. */
export function countCopy(out: WasmWriter, { countGlobal }: LoopCheck, lengthLocal: number): void {
  out.instruction(getGlobal, countGlobal);
  out.instruction(getLocal, lengthLocal);
  out.write([0x41, copyShift, 0x76, 0x6b]);
  out.instruction(setGlobal, countGlobal);
}
