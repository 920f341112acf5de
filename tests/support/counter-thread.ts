import { parentPort, workerData } from 'node:worker_threads';
import type { Window } from '../../src/storage/shared/shared.ts';
import { createThreadsShared } from '../../src/storage/shared/threads.ts';

/** A traffic thread for tests: runs commands and returns their results. */
export type Order =
  | { do: 'take' | 'slide'; name: string; window: Window; nowMs: number; times: number }
  | { do: 'publish'; channel: string; messages: string[] }
  | { do: 'subscribe'; channel: string }
  | { do: 'received' };

const shared = createThreadsShared({ buffer: workerData.buffer as SharedArrayBuffer });
const received: string[] = [];

parentPort?.on('message', async (order: Order) => parentPort?.postMessage(await obey(order)));

async function obey(order: Order): Promise<unknown> {
  switch (order.do) {
    case 'take':
    case 'slide': {
      let allowed = 0;
      for (let time = 0; time < order.times; time++) {
        if (shared.counters[order.do](order.name, order.window, order.nowMs).allowed) allowed += 1;
      }
      return allowed;
    }
    case 'publish':
      for (const message of order.messages) await shared.publish(order.channel, message);
      return true;
    case 'subscribe':
      await shared.subscribe(order.channel, message => received.push(message));
      return true;
    case 'received':
      return received;
  }
}
