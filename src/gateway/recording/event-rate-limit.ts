import type { Clock } from '#base/clock.ts';

/** Events one thread hands on in a second. Whoever provokes more must not fill the memory of the main thread. */
const eventsASecond = 5000;
/** What part of them one organisation may have: whoever provokes events of one keeps those of others from nobody. */
const partOfOne = 0.2;

export interface EventBudget {
  /** Whether one more of this organisation may be handed on now. */
  spend(orgId: string): boolean;
}

/** `onDropped` hears, once a second is over, how many events of it were dropped. */
export function eventBudget(clock: Clock, onDropped: (dropped: number) => void, most = eventsASecond): EventBudget {
  const mostOfOne = Math.ceil(most * partOfOne);
  const spentBy = new Map<string, number>();
  let second = 0;
  let spent = 0;
  let dropped = 0;
  return {
    spend(orgId) {
      const now = Math.floor(clock.now() / 1000);
      if (now !== second) {
        if (dropped > 0) onDropped(dropped);
        second = now;
        spent = 0;
        dropped = 0;
        spentBy.clear();
      }
      const before = spentBy.get(orgId) ?? 0;
      if (spent >= most || before >= mostOfOne) {
        dropped++;
        return false;
      }
      spent++;
      spentBy.set(orgId, before + 1);
      return true;
    },
  };
}
