import { toZonedDate } from '../../kit/format.ts';
import type { UsageCount } from './usage-filters.ts';

export const daysPerWeek = 7;
export const hoursPerDay = 24;

/** Requests by weekday, from Monday, and hour of the day, in the zone of the user. */
export function sumWeekHours(items: readonly Pick<UsageCount, 'id' | 'hits'>[]): number[][] {
  const sums = Array.from({ length: daysPerWeek }, () => new Array<number>(hoursPerDay).fill(0));
  for (const { id, hits } of items) {
    const time = toZonedDate(Date.parse(id.start));
    // getDay() begins with Sunday.
    const weekday = (time.getDay() + daysPerWeek - 1) % daysPerWeek;
    sums[weekday]![time.getHours()]! += hits;
  }
  return sums;
}
