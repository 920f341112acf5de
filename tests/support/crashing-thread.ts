import { getPriority } from 'node:os';
import { BroadcastChannel, threadId } from 'node:worker_threads';

/** The normal traffic thread, which reports when it is ready and crashes on request. */
const born = new BroadcastChannel('gw-test-born');
const die = new BroadcastChannel('gw-test-die');
const rollCall = new BroadcastChannel('gw-test-roll-call');
rollCall.onmessage = () => born.postMessage({ threadId, niceness: getPriority() });
die.onmessage = ({ data }) => {
  if (data !== threadId) return;
  setImmediate(() => {
    throw new Error('crash requested by the test');
  });
};
for (const channel of [born, die, rollCall]) channel.unref();
await import('../../src/gateway/runtime/thread.ts');
born.postMessage({ threadId, niceness: getPriority() });
