import { parentPort } from 'node:worker_threads';

/** The normal traffic thread without notifications of changes: simulates a thread that is stuck. */
const port = parentPort!;
const on = port.on.bind(port);
port.on = ((event: string, listener: (message: { kind?: string }) => void) =>
  on(event, (message: { kind?: string }) => {
    if (message?.kind !== 'config-changed') listener(message);
  })) as typeof port.on;
await import('../../src/gateway/runtime/thread.ts');
