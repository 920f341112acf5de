import { z } from 'zod';
import type { TimeSpan, TimeZone } from '#base/time-zone.ts';
import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';
import { dayMs, hourMs } from './time-buckets.ts';

/** Date range in paths: days of a time zone, both inclusive. */

const day = z.coerce.number().int().min(1).max(31);
const month = z.coerce.number().int().min(1).max(12);
const year = z.coerce.number().int().min(1970).max(9999);

export const rangePath = '{startDay}/{startMonth}/{startYear}/{endDay}/{endMonth}/{endYear}' as const;

export const rangeParams = z.object({
  startDay: day,
  startMonth: month,
  startYear: year,
  endDay: day,
  endMonth: month,
  endYear: year,
});
type RangeParams = z.output<typeof rangeParams>;

/** A hundred years and their leap days. */
const maxRangeDays = 36_525;

/** Days of daylight-saving changes are an hour longer. */
export const isWithinDays = (from: number, to: number, maxDays: number): boolean =>
  to - from <= maxDays * dayMs + hourMs;

export function parseDateRange(params: RangeParams, zone: TimeZone): TimeSpan {
  const first = zone.findDay(params.startYear, params.startMonth, params.startDay);
  const last = zone.findDay(params.endYear, params.endMonth, params.endDay);
  const faults: ValidationError[] = [];
  if (!first) faults.push({ path: 'startDay', message: 'the month has no such day' });
  if (!last) faults.push({ path: 'endDay', message: 'the month has no such day' });
  if (first && last && last.from < first.from)
    faults.push({ path: 'endDay', message: 'the end must not be before the start' });
  if (!first || !last || faults.length > 0) throw createInvalidProblem(faults);
  checkRangeLength(first.from, last.to, 'endDay');
  return { from: first.from, to: last.to };
}

/** Rejects ranges beyond `maxRangeDays`. */
export function checkRangeLength(from: number, to: number, path: string): void {
  if (!isWithinDays(from, to, maxRangeDays))
    throw createInvalidProblem([{ path, message: `the range is longer than ${maxRangeDays} days` }]);
}
