import { Lru } from '#base/lru.ts';
import {
  type GuestCall,
  type GuestImage,
  type GuestOutcome,
  isAtLimit,
  maxImages,
  maxUncountedTextLength,
  type SandboxLimits,
} from './guest.ts';
import { loadSandbox } from './lazy-sandbox.ts';
import type { ScriptSandbox } from './sandbox.ts';
import type { WorkerReply } from './sandbox-worker.ts';

/**
 * Time that a call may take on the traffic thread, and as much processor time behind it. A longer one starts over on a
 * worker: a run has no effects, because functions of the host that have any end it.
 */
const threadSliceMs = 0.5;
/** Short calls of a set on workers, before the thread gets its image. A longer one, or one at a limit, undoes some. */
const minShortCalls = 20;
const undoneShortCalls = 10;
/**
 * Long calls on the thread that ended before they were interrupted: the clock of processor time is coarse. Each counts
 * as many as short ones undo; a busy machine makes some calls long that are not.
 */
const maxLongCallPoints = 40;
/** As many after calls that took too long on the thread, or ended at a limit: the number doubles with each. */
const maxShortCalls = 20_000;
/** After as many calls on the thread, a call that took too long counts as the first one. */
const forgivingCalls = 10_000;
/** Longer texts go to a worker, whatever the plugin does with them. */
const maxThreadTextLength = 65_536;
/** Larger images stay on the workers: with `maxImages` of them, 32 MiB for each thread. */
const maxThreadImageBytes = 1_048_576;

export interface ThreadImages {
  /** State of one set. */
  open(setId: number): ThreadImage;
}

/** A set of plugins that may run on the traffic thread. */
export interface ThreadImage {
  /** Undefined where the set runs on workers, or its call took too long or returned much: it starts over on a worker. */
  run(call: Omit<GuestCall, 'sliceMs' | 'minCpuMs'>): GuestOutcome | undefined;
  /** True where the next run on a worker shall return the image. */
  wantsImage(): boolean;
  /** A run on a worker ended by itself. */
  onWorkerRun(reply: WorkerReply): void;
}

/** A worker may return more than the thread. */
const isOutputFailure = (outcome: GuestOutcome) => outcome.kind === 'failed' && outcome.fault.type === 'output';

/** Sets that workers run. */
export const workersOnly: ThreadImages = {
  open: () => ({ run: () => undefined, wantsImage: () => false, onWorkerRun: () => undefined }),
};

/**
 * Images on the traffic thread, which run calls without a message to a worker. Workers load all scripts; a set whose
 * calls are short gets its image here, and loses it by a call that is not.
 */
export function createThreadImages(limits: SandboxLimits): ThreadImages {
  const images = new Lru<number, GuestImage>(maxImages);
  const threadLimits = { ...limits, maxOutputBytes: Math.min(limits.maxOutputBytes, maxUncountedTextLength) };
  let sandbox: ScriptSandbox | undefined;

  function open(setId: number): ThreadImage {
    let shortCalls = 0;
    let requiredCalls = minShortCalls;
    let threadCalls = 0;
    let longCallPoints = 0;

    function close(): void {
      images.delete(setId);
      longCallPoints = 0;
      requiredCalls = threadCalls >= forgivingCalls ? minShortCalls : Math.min(requiredCalls * 2, maxShortCalls);
      threadCalls = 0;
    }

    return {
      run(call) {
        const image = images.get(setId);
        if (!image || call.head.length + call.body.length > maxThreadTextLength) return undefined;
        threadCalls++;
        const startMs = performance.now();
        const outcome = sandbox!.run(image, { ...call, sliceMs: threadSliceMs, minCpuMs: threadSliceMs });
        const isLong = performance.now() - startMs > threadSliceMs;
        longCallPoints = isLong ? longCallPoints + undoneShortCalls : Math.max(0, longCallPoints - 1);
        const isTooLong = outcome.kind === 'interrupted';
        // A failure at a limit takes longer than a useful call, and may drop the instance.
        if (isTooLong || isAtLimit(outcome) || longCallPoints > maxLongCallPoints) close();
        return isTooLong || isOutputFailure(outcome) ? undefined : outcome;
      },
      wantsImage() {
        if (shortCalls < requiredCalls) return false;
        // Other calls that run at the same time get no further copy.
        shortCalls = 0;
        return true;
      },
      onWorkerRun({ outcome, runMs, portable }) {
        const isShort = runMs <= threadSliceMs && !(outcome && isAtLimit(outcome));
        shortCalls = isShort ? shortCalls + 1 : Math.max(0, shortCalls - undoneShortCalls);
        if (!portable) return;
        const bytes = portable.image.memory.ranges.reduce((sum, range) => sum + range.bytes.length, 0);
        if (bytes > maxThreadImageBytes) {
          requiredCalls = Number.POSITIVE_INFINITY;
          return;
        }
        const engine = { module: portable.module, maxInstances: maxImages };
        sandbox ??= loadSandbox().createScriptSandbox(threadLimits, () => performance.now(), engine);
        images.set(setId, portable.image);
      },
    };
  }
  return { open };
}
