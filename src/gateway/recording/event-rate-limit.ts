import type { Clock } from '#base/clock.ts';

/** Event rate of one thread: bounds the memory of the main thread's queue. */
const maxEventsPerSecond = 5000;
/** Fairness: one organisation's share of the rate, so that its events cannot crowd out those of others. */
const organisationShare = 0.2;

export interface EventRateLimit {
  /** Takes one event of the organisation; false when the rate is exceeded. */
  tryTake(orgId: string): boolean;
}

/** Fixed-window rate limit of one second. `onDropped` receives the number dropped once the window is over. */
export function createEventRateLimit(
  clock: Clock,
  onDropped: (dropped: number) => void,
  maxEvents = maxEventsPerSecond,
): EventRateLimit {
  const maxEventsPerOrganisation = Math.ceil(maxEvents * organisationShare);
  const usedByOrganisation = new Map<string, number>();
  let second = 0;
  let used = 0;
  let dropped = 0;
  return {
    tryTake(orgId) {
      const now = Math.floor(clock.now() / 1000);
      if (now !== second) {
        if (dropped > 0) onDropped(dropped);
        second = now;
        used = 0;
        dropped = 0;
        usedByOrganisation.clear();
      }
      const before = usedByOrganisation.get(orgId) ?? 0;
      if (used >= maxEvents || before >= maxEventsPerOrganisation) {
        dropped++;
        return false;
      }
      used++;
      usedByOrganisation.set(orgId, before + 1);
      return true;
    },
  };
}
