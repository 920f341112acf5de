import { posix } from 'node:path';
import {
  type GuestCall,
  type GuestFault,
  type GuestImage,
  GuestLoadError,
  type GuestModules,
  type GuestOutcome,
  type GuestSet,
  isAtLimit,
  type SandboxLimits,
} from './guest.ts';
import { evaluateFiles, startGuest, takeImage } from './guest-image.ts';
import { GuestRun } from './guest-run.ts';
import { callGuest, callImage } from './guest-values.ts';
import { countWrittenBytes, replaceMemory, restoreMemory } from './memory-image.ts';
import { compileQuickJs, instantiateQuickJs, type QuickJsExports } from './quickjs-module.ts';
import type { WasmModule } from './webassembly.ts';
import { wasmPageBytes } from './write-barrier.ts';

/** Relative specifiers are those of files beside the importer. */
export const resolveModuleName = (from: string, specifier: string): string =>
  /^\.{1,2}\//.test(specifier) ? posix.join(posix.dirname(from), specifier) : specifier;

export interface ScriptSandbox {
  /** Runs the scripts and takes an image; throws `GuestLoadError`. */
  load(set: GuestSet, sliceMs: number): GuestImage;
  run(image: GuestImage, call: GuestCall): GuestOutcome;
}

/** Engine of a sandbox. */
export interface SandboxEngine {
  readonly module: WasmModule;
  /** The least recently used instance is dropped, or gets another image of its owner. */
  readonly maxInstances: number;
}

/** On workers, where a guest may fill the memory of an instance. */
const defaultMaxInstances = 8;
/**
 * Memory that guests have written, above which an instance is dropped when one exhausts a limit. Below, it stays: memory
 * of a new one is mapped and unmapped, which delays all threads of the process.
 */
const maxHeldBytes = 4_194_304;
const noTime = { sliceMs: Number.POSITIVE_INFINITY, minCpuMs: 0, nowMs: 0, results: [] };

/** QuickJS instance of an owner, and the image whose pointers it has. */
interface Instance {
  readonly guest: QuickJsExports;
  image: GuestImage | undefined;
}

/** Instances by the image that they have, in order of use. */
function createInstances(createGuest: () => QuickJsExports, maxInstances: number) {
  const instances = new Map<GuestImage, Instance>();
  let latest: Instance | undefined;

  /** An instance of the same owner where there is no room for a new one. */
  function take(image: GuestImage): Instance {
    if (instances.size < maxInstances) return { guest: createGuest(), image: undefined };
    for (const [other, instance] of instances)
      if (other.owner === image.owner) {
        instances.delete(other);
        return instance;
      }
    instances.delete(instances.keys().next().value!);
    return { guest: createGuest(), image: undefined };
  }

  return {
    find(image: GuestImage): Instance {
      if (latest?.image === image) return latest;
      const instance = instances.get(image) ?? take(image);
      latest = instance;
      instances.delete(image);
      instances.set(image, instance);
      return instance;
    },
    remove(image: GuestImage): void {
      instances.delete(image);
      latest = undefined;
    },
  };
}

/**
 * Sandbox of one thread. A call restores the image of its plugin set, so that nothing of another call or API is left,
 * and runs to its end or to the end of its time slice. A host function that waits ends the run; the call is run again
 * from the image with its result (deterministic replay: the clock and the seed of random numbers are those of the first
 * run). The thread is never blocked by a wait.
 */
export function createScriptSandbox(
  limits: SandboxLimits,
  monotonicNow: () => number,
  { module, maxInstances }: SandboxEngine = { module: compileQuickJs(), maxInstances: defaultMaxInstances },
): ScriptSandbox {
  const run = new GuestRun(limits.maxLogBytes, monotonicNow);
  /** Modules of the set that is being loaded; calls load none. */
  let loading: GuestModules | undefined;

  const createGuest = (): QuickJsExports =>
    instantiateQuickJs(module, {
      onHostCall: args => run.callHost(args),
      onInterrupt: () => run.interrupt(),
      now: () => run.nowMs,
      resolveModule: resolveModuleName,
      findModule: name => loading?.files.find(file => file.name === name)?.source,
    });

  const instances = createInstances(createGuest, maxInstances);

  return {
    load(set, sliceMs) {
      const guest = createGuest();
      run.begin(guest, noTime);
      const entry = startGuest(guest, limits);
      // Half of it as processor time: on a busy machine a script that waited is not one that does not end.
      run.begin(guest, { sliceMs, minCpuMs: sliceMs / 2, nowMs: 0, results: [] });
      loading = set.modules;
      const outcome = run.attempt(() => {
        const fault = evaluateFiles(guest, set);
        if (fault) return run.fail(fault);
        const value = callGuest(guest, entry, JSON.stringify({ names: set.hooks, data: set.data }), '');
        return run.finish(guest, value, limits.maxOutputBytes);
      });
      loading = undefined;
      requireHooks(outcome);
      run.begin(guest, noTime);
      return takeImage(guest, set.owner, entry, limits.maxMemoryBytes);
    },
    run(image, call) {
      const instance = instances.find(image);
      const { guest } = instance;
      run.begin(guest, noTime);
      restore(instance, image);
      const sizeBefore = guest.memory.buffer.byteLength;
      run.begin(guest, call);
      const outcome = run.attempt(() =>
        run.finish(guest, callImage(guest, image, call.head, call.body), limits.maxOutputBytes),
      );
      const hasGrown = guest.memory.buffer.byteLength > sizeBefore;
      if (hasGrown || (isAtLimit(outcome) && countWrittenBytes(guest) > maxHeldBytes)) instances.remove(image);
      return outcome;
    },
  };
}

function restore(instance: Instance, image: GuestImage): void {
  const { guest } = instance;
  const missing = image.memory.memoryBytes - guest.memory.buffer.byteLength;
  if (missing > 0) guest.memory.grow(missing / wasmPageBytes);
  guest.__stack_pointer.value = image.memory.stackPointer;
  if (instance.image === image) {
    restoreMemory(guest, image.memory);
    return;
  }
  instance.image = image;
  replaceMemory(guest, image.memory);
  guest.qjs_set_runtime_and_context(image.runtime, image.context);
}

/** Every hook must be defined by a script that ran to its end. */
function requireHooks(outcome: GuestOutcome): void {
  if (outcome.kind !== 'result') throw new GuestLoadError(toLoadFault(outcome));
  if (outcome.text === '') return;
  throw new GuestLoadError({ type: 'runtime', message: `no script defines ${outcome.text}`, at: '' });
}

function toLoadFault(outcome: Exclude<GuestOutcome, { kind: 'result' }>): GuestFault {
  if (outcome.kind === 'failed') return outcome.fault;
  const message =
    outcome.kind === 'call' ? `${outcome.name} cannot be called while the script loads` : 'the script does not end';
  return { type: 'runtime', message, at: '' };
}
