import { z } from 'zod';
import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';

/** Date range in paths: days in UTC, both inclusive. */

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

const dayMs = 86_400_000;

/** Milliseconds; the end is exclusive. */
export interface DateRange {
  readonly from: number;
  readonly to: number;
}

export function parseDateRange(params: RangeParams): DateRange {
  const from = startOfDay(params.startYear, params.startMonth, params.startDay);
  const last = startOfDay(params.endYear, params.endMonth, params.endDay);
  const faults: ValidationError[] = [];
  if (from === undefined) faults.push({ path: 'startDay', message: 'the month has no such day' });
  if (last === undefined) faults.push({ path: 'endDay', message: 'the month has no such day' });
  if (from !== undefined && last !== undefined && last < from)
    faults.push({ path: 'endDay', message: 'the end must not be before the start' });
  if (from === undefined || last === undefined || faults.length > 0) throw createInvalidProblem(faults);
  return { from, to: last + dayMs };
}

function startOfDay(year: number, month: number, day: number): number | undefined {
  const at = new Date(Date.UTC(year, month - 1, day));
  return at.getUTCDate() === day ? at.getTime() : undefined;
}
