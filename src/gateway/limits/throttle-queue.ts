import type { Exchange } from '../pipeline/exchange.ts';

/** Throttled requests of this thread. */
export interface ThrottleQueue {
  /** Takes a place; false when the queue is full. A place is freed by `leave`. */
  tryEnter(): boolean;
  leave(): void;
  /** Resolves to true after the delay, to false as soon as the client disconnects. */
  wait(call: Exchange, ms: number): Promise<boolean>;
}

export function createThrottleQueue(maxWaiting: number): ThrottleQueue {
  let waiting = 0;
  return {
    tryEnter() {
      if (waiting >= maxWaiting) return false;
      waiting++;
      return true;
    },
    leave() {
      waiting--;
    },
    wait: (call, ms) =>
      new Promise(resolve => {
        if (call.isClientDisconnected) return resolve(false);
        const timer = setTimeout(() => {
          call.onDisconnect = undefined;
          resolve(true);
        }, ms);
        call.onDisconnect = () => {
          call.onDisconnect = undefined;
          clearTimeout(timer);
          resolve(false);
        };
      }),
  };
}
