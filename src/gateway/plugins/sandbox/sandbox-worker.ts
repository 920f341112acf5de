import { parentPort, workerData } from 'node:worker_threads';
import { Lru } from '#base/lru.ts';
import {
  type GuestCall,
  type GuestImage,
  GuestLoadError,
  type GuestOutcome,
  type GuestSet,
  maxImages,
  type SandboxLimits,
} from './guest.ts';
import { createScriptSandbox } from './sandbox.ts';

/** Job of a worker. The set comes with the first job that uses it. */
export interface WorkerJob {
  readonly setId: number;
  readonly set: GuestSet | undefined;
  readonly call: GuestCall;
}

/** First message of a worker: it has loaded, and takes jobs. */
export const workerReady = 'ready';

export interface WorkerReply {
  /** Undefined: the worker no longer holds the set, send it again. */
  readonly outcome: GuestOutcome | undefined;
}

/** Time in which the scripts of an API must have run. */
const loadTimeoutMs = 1000;

/** Runs plugins on a thread of their own, which can be ended from outside. */
function serve(limits: SandboxLimits): void {
  const sandbox = createScriptSandbox(limits, () => performance.now());
  const images = new Lru<number, GuestImage>(maxImages);

  function attempt(setId: number, set: GuestSet | undefined, call: GuestCall): GuestOutcome | undefined {
    try {
      let image = images.get(setId);
      if (!image && set) {
        image = sandbox.load(set, Math.min(call.sliceMs, loadTimeoutMs));
        images.set(setId, image);
      }
      return image && sandbox.run(image, call);
    } catch (error) {
      if (!(error instanceof GuestLoadError)) throw error;
      return { kind: 'failed', fault: { ...error.fault, type: 'load', loadType: error.fault.type }, logs: [] };
    }
  }

  parentPort!.on('message', ({ setId, set, call }: WorkerJob) => {
    parentPort!.postMessage({ outcome: attempt(setId, set, call) } satisfies WorkerReply);
  });
  parentPort!.postMessage(workerReady);
}

serve(workerData as SandboxLimits);
