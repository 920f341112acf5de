import { readThreadCpuMs } from '#base/process.ts';
import type { GuestFault, GuestOutcome } from './guest.ts';
import { newString, readFault, readGuestText, settlePromise } from './guest-values.ts';
import type { QuickJsExports } from './quickjs-module.ts';
import { webAssembly } from './webassembly.ts';

/** Control flow out of a guest, which cannot catch it. */
class Unwind {
  readonly outcome: GuestOutcome;

  constructor(outcome: GuestOutcome) {
    this.outcome = outcome;
  }
}

const interrupted = new Unwind({ kind: 'interrupted' });

/** Time for a run that got little of the processor; a worker that takes longer by a second is terminated. */
const maxOverdueMs = 500;

/** Log lines of one call; further ones are dropped. */
const maxLogLines = 50;

const base64Functions: Readonly<Record<string, (text: string) => string>> = {
  b64enc: text => Buffer.from(text).toString('base64'),
  b64dec: text => Buffer.from(text, 'base64').toString(),
  rawb64enc: text => Buffer.from(text).toString('base64').replace(/=+$/, ''),
  rawb64dec: text => Buffer.from(text, 'base64').toString(),
};

/** Start of a run: its time slice, its clock, and the recorded results of host functions. */
export interface RunStart {
  readonly sliceMs: number;
  readonly minCpuMs: number;
  readonly startCpuMs?: number;
  readonly nowMs: number;
  readonly results: readonly string[];
}

/** The run in progress in a sandbox: answers its host functions and ends it at its deadline. */
export class GuestRun {
  nowMs = 0;
  #guest: QuickJsExports | undefined;
  #deadline = 0;
  #minCpuMs = 0;
  /** Where it was not given, at the first check behind the deadline. */
  #startCpuMs: number | undefined = undefined;
  #results: readonly string[] = [];
  #resultIndex = 0;
  #logs: string[] = [];
  #logBytes = 0;
  readonly #maxLogBytes: number;
  readonly #monotonicNow: () => number;

  constructor(maxLogBytes: number, monotonicNow: () => number) {
    this.#maxLogBytes = maxLogBytes;
    this.#monotonicNow = monotonicNow;
  }

  begin(guest: QuickJsExports, { sliceMs, minCpuMs, startCpuMs, nowMs, results }: RunStart): void {
    this.#guest = guest;
    this.#deadline = this.#monotonicNow() + sliceMs;
    this.#minCpuMs = minCpuMs;
    this.#startCpuMs = startCpuMs;
    this.nowMs = nowMs;
    this.#results = results;
    this.#resultIndex = 0;
    this.#logs = [];
    this.#logBytes = 0;
  }

  /** Ends the run behind its deadline, unless it got less than its processor time. Most runs never read that. */
  interrupt(): void {
    const overdueMs = this.#monotonicNow() - this.#deadline;
    if (overdueMs <= 0) return;
    if (this.#minCpuMs === 0 || overdueMs > maxOverdueMs) throw interrupted;
    this.#startCpuMs ??= readThreadCpuMs();
    if (readThreadCpuMs() - this.#startCpuMs >= this.#minCpuMs) throw interrupted;
  }

  callHost([name, argument]: readonly number[]): number {
    const guest = this.#guest!;
    const result = this.#answer(readGuestText(guest, name!), readGuestText(guest, argument!));
    return result === undefined ? guest.qjs_get_undefined() : newString(guest, result);
  }

  /** Host functions that do not wait return at once, others their recorded results. */
  #answer(name: string, argument: string): string | undefined {
    if (name === 'log' || name === 'rawlog') {
      this.#logBytes += argument.length;
      if (this.#logBytes <= this.#maxLogBytes && this.#logs.length < maxLogLines) this.#logs.push(argument);
      return undefined;
    }
    const convert = base64Functions[name];
    if (convert) {
      // A long text takes the host longer than the guest took to get here.
      this.interrupt();
      return convert(argument);
    }
    const recorded = this.#results[this.#resultIndex++];
    if (recorded === undefined) throw new Unwind({ kind: 'call', name, argument });
    return recorded;
  }

  fail(fault: GuestFault): GuestOutcome {
    return { kind: 'failed', fault, logs: this.#logs };
  }

  /** Outcome of a value that the guest returned. */
  finish(guest: QuickJsExports, value: number, maxOutputBytes: number): GuestOutcome {
    if (guest.qjs_is_exception(value) !== 0) return this.fail(readFault(guest));
    if (guest.qjs_is_promise(value) !== 0) return this.#finishPromise(guest, value, maxOutputBytes);
    const text = readGuestText(guest, value, maxOutputBytes);
    if (text !== undefined) return { kind: 'result', text, logs: this.#logs };
    return this.fail({ type: 'output', message: `the result exceeds ${maxOutputBytes} bytes`, at: '' });
  }

  #finishPromise(guest: QuickJsExports, promise: number, maxOutputBytes: number): GuestOutcome {
    const value = settlePromise(guest, promise);
    if (value !== undefined) return this.finish(guest, value, maxOutputBytes);
    return this.fail({ type: 'runtime', message: 'the hook waits for a promise that never settles', at: '' });
  }

  /** Runs guest code; an unwound guest leaves an outcome. */
  attempt(work: () => GuestOutcome): GuestOutcome {
    try {
      return work();
    } catch (error) {
      if (error instanceof Unwind) return error.outcome;
      // Traps of WebAssembly: stack overflow in native code, failed allocation.
      if (!(error instanceof webAssembly.RuntimeError || error instanceof RangeError)) throw error;
      return this.fail({ type: 'memory', message: 'the memory or stack limit was exceeded', at: '' });
    }
  }
}
