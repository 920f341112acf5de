import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';

/** A traffic thread that loads its program, and begins when it is given what to work with. */
export interface PreloadedThread {
  readonly worker: Worker;
  readonly startPort: MessagePort;
}

/** What such a thread starts with. */
export interface ThreadStart {
  /** Carries one message: what to work with. */
  readonly startPort: MessagePort;
}

export interface PreloadOptions {
  /** The program of the thread, where it is not the usual one. */
  readonly program?: URL | undefined;
  /** Whether its log lines are read here instead of going to standard error. */
  readonly capturesLog?: boolean;
}

const defaultProgram = new URL('./thread.ts', import.meta.url);

/** Loading takes most of the time a thread needs to start: who prepares it early can do other work meanwhile. */
export function preloadThread({
  program = defaultProgram,
  capturesLog: readsLog = false,
}: PreloadOptions = {}): PreloadedThread {
  const { port1, port2 } = new MessageChannel();
  const workerData: ThreadStart = { startPort: port2 };
  const worker = new Worker(program, { workerData, transferList: [port2], stderr: readsLog });
  // Nobody waits for a thread that has nothing to do yet.
  worker.unref();
  port1.unref();
  return { worker, startPort: port1 };
}
