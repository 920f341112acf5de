import { parentPort } from 'node:worker_threads';

/** The normal traffic thread without acknowledgements of its records: simulates a busy main thread. */
const port = parentPort!;
const on = port.on.bind(port);
port.on = ((event: string, listener: (message: { kind?: string }) => void) =>
  on(event, (message: { kind?: string }) => {
    if (message?.kind !== 'batch-accepted') listener(message);
  })) as typeof port.on;
await import('../../src/gateway/runtime/thread.ts');
