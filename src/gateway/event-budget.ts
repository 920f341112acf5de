import type { Clock } from '#base/clock.ts';

/** Events one thread hands on in a second. Whoever provokes more must not fill the memory of the main thread. */
const eventsASecond = 5000;

export interface EventBudget {
  /** Whether one more may be handed on now. */
  spend(): boolean;
}

/** `onDropped` hears, once a second is over, how many events of it were dropped. */
export function eventBudget(clock: Clock, onDropped: (dropped: number) => void, most = eventsASecond): EventBudget {
  let second = 0;
  let spent = 0;
  return {
    spend() {
      const now = Math.floor(clock.now() / 1000);
      if (now !== second) {
        if (spent > most) onDropped(spent - most);
        second = now;
        spent = 0;
      }
      return ++spent <= most;
    },
  };
}
