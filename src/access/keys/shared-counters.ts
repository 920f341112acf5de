import type { Clock } from '#base/clock.ts';
import type { CounterPersistence } from '#storage/counter-persistence.ts';
import type { Counters } from '#storage/shared/shared.ts';
import type { KeyCounters } from './counters.ts';

/** Traffic counters for management operations. */
export const createKeyCounters = (
  counters: Counters,
  kept: Pick<CounterPersistence, 'reset'>,
  clock: Clock,
): KeyCounters => ({
  async reset(names) {
    for (const name of names) await counters.reset(name);
    await kept.reset(names);
  },
  peek: async (name, window) => counters.peek(name, window, clock.now()),
  async carryOver(from, to, window) {
    const now = clock.now();
    const [source, target] = [await counters.peek(from, window, now), await counters.peek(to, window, now)];
    if (source.used <= target.used) return;
    const startMs = Number.isFinite(window.periodMs) ? source.resetsAtMs - window.periodMs : now;
    await counters.take(to, window, target.used > 0 ? now : startMs, source.used - target.used);
  },
});
