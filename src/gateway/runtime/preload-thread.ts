import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';

/** A traffic thread that has loaded its code and waits for its data on `startPort`. */
export interface PreloadedThread {
  readonly worker: Worker;
  readonly startPort: MessagePort;
}

/** Worker data of a preloaded thread. */
export interface ThreadStart {
  /** Carries one message: `ThreadData`. */
  readonly startPort: MessagePort;
}

export interface PreloadOptions {
  /** Replaces the thread program. */
  readonly program?: URL | undefined;
  /** Captures its log lines instead of passing them to standard error. */
  readonly capturesLog?: boolean;
}

const defaultProgram = new URL('./thread.ts', import.meta.url);

/** Loads the thread's code, most of its start time, in parallel with the rest of the start. */
export function preloadThread({ program = defaultProgram, capturesLog = false }: PreloadOptions = {}): PreloadedThread {
  const { port1, port2 } = new MessageChannel();
  const workerData: ThreadStart = { startPort: port2 };
  const worker = new Worker(program, { name: 'gw-traffic', workerData, transferList: [port2], stderr: capturesLog });
  // A thread that was never started must not keep the process alive.
  worker.unref();
  port1.unref();
  return { worker, startPort: port1 };
}
