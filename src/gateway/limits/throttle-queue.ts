import type { Exchange } from '../pipeline/exchange.ts';

/** Calls of this thread that wait for their turn. */
export interface Waiting {
  /** Makes room for a call; false when too many wait already. Whoever got room gives it back with `leave`. */
  enter(): boolean;
  leave(): void;
  /** Resolves after the pause, or at once when the caller leaves; false when they did. */
  pause(call: Exchange, ms: number): Promise<boolean>;
}

export function waitingRoom(most: number): Waiting {
  let held = 0;
  return {
    enter() {
      if (held >= most) return false;
      held++;
      return true;
    },
    leave() {
      held--;
    },
    pause: (call, ms) =>
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
