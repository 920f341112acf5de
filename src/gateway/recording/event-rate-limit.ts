import type { Clock } from '#base/clock.ts';

/** Events one thread hands on in a second. Whoever provokes more must not fill the memory of the main thread. */
const maxEventsPerSecond = 5000;
/** What part of them one organisation may have: whoever provokes events of one keeps those of others from nobody. */
const organisationShare = 0.2;

export interface EventRateLimit {
  /** Whether one more of this organisation may be handed on now. */
  tryTake(orgId: string): boolean;
}

/** `onDropped` hears, once a second is over, how many events of it were dropped. */
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
