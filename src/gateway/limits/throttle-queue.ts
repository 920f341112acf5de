import type { Exchange } from '../pipeline/exchange.ts';

/** Calls of this thread that wait for their turn. */
export interface ThrottleQueue {
  /** Makes room for a call; false when too many wait already. Whoever got room gives it back with `leave`. */
  tryEnter(): boolean;
  leave(): void;
  /** Resolves after the pause, or at once when the caller leaves; false when they did. */
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
