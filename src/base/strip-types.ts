import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { StripJob, StrippedTypes } from './strip-types-worker.ts';

const stripTimeoutMs = 5000;
const maxWorkerMemoryMb = 128;

/**
 * Strips types with the parser of Node; positions stay. Enums and other syntax with code of its own is a fault. The
 * parser is one WebAssembly instance per thread, which a source that is nested too deeply destroys for all later ones:
 * it runs on a worker of its own, and this thread waits.
 */
export function stripTypes(sources: readonly string[]): StrippedTypes[] {
  const { worker, port1, signal } = startStripping(sources);
  Atomics.wait(signal, 0, 0, stripTimeoutMs);
  const received = receiveMessageOnPort(port1) as { readonly message: StrippedTypes[] } | undefined;
  port1.close();
  void worker.terminate();
  return received?.message ?? sources.map(() => unstripped);
}

/** Strips types as `stripTypes` does, without blocking the calling thread. */
export async function stripTypesAsync(sources: readonly string[]): Promise<StrippedTypes[]> {
  const { worker, port1 } = startStripping(sources);
  const received = await new Promise<StrippedTypes[] | undefined>(resolve => {
    const timer = setTimeout(resolve, stripTimeoutMs, undefined);
    const finish = (result?: StrippedTypes[]) => {
      clearTimeout(timer);
      resolve(result);
    };
    port1.once('message', finish);
    worker.once('error', () => finish());
  });
  port1.close();
  void worker.terminate();
  return received ?? sources.map(() => unstripped);
}

function startStripping(sources: readonly string[]) {
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const { port1, port2 } = new MessageChannel();
  const workerData: StripJob = { sources, port: port2, signal };
  const worker = new Worker(new URL('./strip-types-worker.ts', import.meta.url), {
    workerData,
    transferList: [port2],
    resourceLimits: { maxOldGenerationSizeMb: maxWorkerMemoryMb },
  });
  // An error of the worker leaves the signal unset, and no message: a fault.
  worker.on('error', () => undefined);
  worker.unref();
  return { worker, port1, signal };
}

const unstripped: StrippedTypes = {
  code: '',
  fault: { line: 1, message: `its types are not stripped within ${stripTimeoutMs / 1000} s` },
};
