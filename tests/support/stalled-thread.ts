import { parentPort } from 'node:worker_threads';

/** The usual traffic thread, which never hears that its records were taken: as if the main thread had no time for them. */
const port = parentPort!;
const on = port.on.bind(port);
port.on = ((event: string, listener: (message: { kind?: string }) => void) =>
  on(event, (message: { kind?: string }) => {
    if (message?.kind !== 'taken') listener(message);
  })) as typeof port.on;
await import('../../src/gateway/runtime/thread.ts');
