import { parentPort, workerData } from 'node:worker_threads';
import { Lru } from '#base/lru.ts';
import { lowerThreadPriority, readThreadCpuMs } from '#base/process.ts';
import {
  type GuestCall,
  type GuestImage,
  GuestLoadError,
  type GuestOutcome,
  type GuestSet,
  maxImages,
  type SandboxLimits,
} from './guest.ts';
import { compileQuickJs } from './quickjs-module.ts';
import { checkResultValues } from './result-values.ts';
import { createScriptSandbox } from './sandbox.ts';
import type { WasmModule } from './webassembly.ts';

/** Job of a worker. The set comes with the first job that uses it. */
export interface WorkerJob {
  readonly setId: number;
  readonly set: GuestSet | undefined;
  readonly call: GuestCall;
  /** The reply has the image of the set. */
  readonly wantsImage: boolean;
}

/** Image for the sandbox of another thread, with the compiled engine. */
export interface PortableImage {
  readonly image: GuestImage;
  readonly module: WasmModule;
}

/** First message of a worker: it has loaded, and takes jobs. */
const workerReady = 'ready';

export interface WorkerReply {
  /** Undefined: the worker no longer holds the set, send it again. */
  readonly outcome: GuestOutcome | undefined;
  /** Time of the run. */
  readonly runMs: number;
  readonly portable: PortableImage | undefined;
}

/** Time in which the scripts of an API must have run. */
const loadTimeoutMs = 1000;

/** Runs plugins on a thread of their own, which can be ended from outside. */
function serve(limits: SandboxLimits): void {
  lowerThreadPriority();
  // Before the first job: its time does not include that of the engine.
  const module = compileQuickJs();
  const sandbox = createScriptSandbox(limits, () => performance.now());
  const images = new Lru<number, GuestImage>(maxImages);

  function attempt({ setId, set, call, wantsImage }: WorkerJob): WorkerReply {
    let image = images.get(setId);
    if (!image && set) {
      image = sandbox.load(set, Math.min(call.sliceMs, loadTimeoutMs));
      images.set(setId, image);
    }
    const startMs = performance.now();
    const outcome = image && checkResultValues(sandbox.run(image, { ...call, startCpuMs: readThreadCpuMs() }));
    const runMs = performance.now() - startMs;
    return { outcome, runMs, portable: image && wantsImage ? { image, module } : undefined };
  }

  function reply(job: WorkerJob): WorkerReply {
    try {
      return attempt(job);
    } catch (error) {
      if (!(error instanceof GuestLoadError)) throw error;
      const fault = { ...error.fault, type: 'load', loadType: error.fault.type } as const;
      return { outcome: { kind: 'failed', fault, logs: [] }, runMs: 0, portable: undefined };
    }
  }

  parentPort!.on('message', (job: WorkerJob) => parentPort!.postMessage(reply(job)));
  parentPort!.postMessage(workerReady);
}

serve(workerData as SandboxLimits);
