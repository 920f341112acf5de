import type { Clock } from '#base/clock.ts';
import type { CounterPersistence } from '#storage/counter-persistence.ts';
import type { Counters } from '#storage/shared/shared.ts';
import type { KeyCounters } from './counters.ts';

/** Traffic counters for management operations. */
export const createKeyCounters = (
  counters: Counters,
  persistence: Pick<CounterPersistence, 'reset'>,
  clock: Clock,
): KeyCounters => ({
  async reset(names) {
    for (const name of names) await counters.reset(name);
    await persistence.reset(names);
  },
  peek: async (name, window) => counters.peek(name, window, clock.now()),
  async carryOver(from, to, window) {
    const now = clock.now();
    const [source, target] = [await counters.peek(from, window, now), await counters.peek(to, window, now)];
    if (source.used <= target.used) return;
    if (target.used > 0) {
      await counters.take(to, window, now, source.used - target.used);
      return;
    }
    const startMs = Number.isFinite(window.periodMs) ? source.resetsAtMs - window.periodMs : now;
    // In memory a window of the target that has ended since was open then, and would take the count. Redis has a clock
    // of its own, at which it has ended.
    if ((await counters.peek(to, window, startMs)).used > 0) await counters.reset(to);
    await counters.take(to, window, startMs, source.used);
  },
});
