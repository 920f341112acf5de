import { posix } from 'node:path';
import {
  type GuestCall,
  type GuestFault,
  type GuestImage,
  GuestLoadError,
  type GuestModules,
  type GuestOutcome,
  type GuestSet,
  type SandboxLimits,
} from './guest.ts';
import { evaluateFiles, startGuest, takeImage } from './guest-image.ts';
import { GuestRun } from './guest-run.ts';
import { callGuest, callImage } from './guest-values.ts';
import { restoreMemory } from './memory-image.ts';
import { compileQuickJs, instantiateQuickJs, type QuickJsExports } from './quickjs-module.ts';

/** Relative specifiers are those of files beside the importer. */
export const resolveModuleName = (from: string, specifier: string): string =>
  /^\.{1,2}\//.test(specifier) ? posix.join(posix.dirname(from), specifier) : specifier;

export interface ScriptSandbox {
  /** Runs the scripts and takes an image; throws `GuestLoadError`. */
  load(set: GuestSet, sliceMs: number): GuestImage;
  run(image: GuestImage, call: GuestCall): GuestOutcome;
}

/** Instances of a thread, each for one owner; the least recently used one is dropped. */
const maxInstances = 8;
const wasmPageBytes = 65_536;
const noTime = { sliceMs: Number.POSITIVE_INFINITY, minCpuMs: 0, nowMs: 0, results: [] };

/** QuickJS instance of an owner, and the image whose pointers it has. */
interface Instance {
  readonly guest: QuickJsExports;
  image: GuestImage | undefined;
}

/**
 * Sandbox of one thread. A call restores the image of its plugin set, so that nothing of another call or API is left,
 * and runs to its end or to the end of its time slice. A host function that waits ends the run; the call is run again
 * from the image with its result (deterministic replay: the clock and the seed of random numbers are those of the first
 * run). The thread is never blocked by a wait.
 */
export function createScriptSandbox(limits: SandboxLimits, monotonicNow: () => number): ScriptSandbox {
  const run = new GuestRun(limits.maxLogBytes, monotonicNow);
  const instances = new Map<string, Instance>();
  /** Modules of the set that is being loaded; calls load none. */
  let loading: GuestModules | undefined;

  const createGuest = (): QuickJsExports =>
    instantiateQuickJs(compileQuickJs(), {
      onHostCall: args => run.callHost(args),
      onInterrupt: () => run.interrupt(),
      now: () => run.nowMs,
      resolveModule: resolveModuleName,
      findModule: name => loading?.files.find(file => file.name === name)?.source,
    });

  function findInstance(owner: string): Instance {
    const instance = instances.get(owner) ?? { guest: createGuest(), image: undefined };
    instances.delete(owner);
    instances.set(owner, instance);
    if (instances.size > maxInstances) instances.delete(instances.keys().next().value!);
    return instance;
  }

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
      return takeImage(guest, set.owner, entry, limits.maxMemoryBytes);
    },
    run(image, call) {
      const instance = findInstance(image.owner);
      const { guest } = instance;
      restore(instance, image);
      const sizeBefore = guest.memory.buffer.byteLength;
      run.begin(guest, call);
      const outcome = run.attempt(() =>
        run.finish(guest, callImage(guest, image, call.head, call.body), limits.maxOutputBytes),
      );
      // A guest that exhausted a limit, or grew the memory, may hold much of it: the instance is dropped.
      const hasGrown = guest.memory.buffer.byteLength > sizeBefore;
      if (hasGrown || (outcome.kind === 'failed' && outcome.fault.type !== 'runtime')) instances.delete(image.owner);
      return outcome;
    },
  };
}

function restore(instance: Instance, image: GuestImage): void {
  const { guest } = instance;
  const missing = image.memory.memoryBytes - guest.memory.buffer.byteLength;
  if (missing > 0) guest.memory.grow(missing / wasmPageBytes);
  restoreMemory(guest.memory, image.memory);
  guest.__stack_pointer.value = image.memory.stackPointer;
  if (instance.image !== image) guest.qjs_set_runtime_and_context(image.runtime, image.context);
  instance.image = image;
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
