import { formatZonedTime, type OffsetSpan, type TimeSpan, type TimeZone } from '#base/time-zone.ts';

/** Time resolutions, from coarse to fine. */
export const resolutions = ['month', 'day', 'hour', 'minute'] as const;
export type Resolution = (typeof resolutions)[number];

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
/** The first bucket of a range may start before the range. */
const lookBackMs = 32 * dayMs;

interface CalendarMonth {
  readonly year: number;
  readonly month: number;
  readonly from: number;
}

/** How a query groups minutes by time, in a zone. */
export interface TimeBuckets {
  readonly resolution: Resolution;
  readonly zone: TimeZone;
  readonly offsets: readonly OffsetSpan[];
  /** Months of the range, oldest first; empty for other resolutions. */
  readonly months: readonly CalendarMonth[];
}

export function createTimeBuckets(resolution: Resolution, zone: TimeZone, span: TimeSpan): TimeBuckets {
  const offsets = zone.listOffsets(span.from - lookBackMs, Math.max(span.from, span.to - 1));
  return { resolution, zone, offsets, months: resolution === 'month' ? listMonths(zone, offsets, span) : [] };
}

function listMonths(zone: TimeZone, offsets: readonly OffsetSpan[], { from, to }: TimeSpan): CalendarMonth[] {
  const first = new Date(from + findOffset(offsets, from).offsetMs);
  let [year, month] = [first.getUTCFullYear(), first.getUTCMonth() + 1];
  const months: CalendarMonth[] = [];
  for (;;) {
    const start = zone.findDay(year, month, 1)!.from;
    if (months.length > 0 && start >= to) return months;
    months.push({ year, month, from: start });
    month = month === 12 ? 1 : month + 1;
    if (month === 1) year++;
  }
}

const findOffset = (offsets: readonly OffsetSpan[], at: number) => offsets.findLast(it => it.from <= at) ?? offsets[0]!;

/**
 * Group of a query by time: for months the index in the range, for days and hours the number of local days or hours
 * since 1970, for minutes the time itself. Hours also have the offset, as one local hour occurs twice where clocks go back.
 */
export interface TimeGroup {
  readonly bucket: number;
  readonly offsetMs?: number | undefined;
}

export interface BucketTime {
  readonly day: number;
  readonly month: number;
  readonly year: number;
  readonly hour: number;
  readonly minute: number;
  /** RFC 3339 with the offset of the zone. */
  readonly start: string;
}

export const noBucketTime: BucketTime = { day: 0, month: 0, year: 0, hour: 0, minute: 0, start: '' };

/** Calendar members and start of a group. */
export function toBucketTime({ resolution, zone, offsets, months }: TimeBuckets, group: TimeGroup): BucketTime {
  const { bucket } = group;
  const format = (ms: number) => formatZonedTime(ms, findOffset(offsets, ms).offsetMs);
  if (resolution === 'month') {
    const { year, month, from } = months[bucket]!;
    return { ...noBucketTime, year, month, start: format(from) };
  }
  if (resolution === 'day') {
    const date = toCalendarDate(bucket * dayMs);
    return { ...noBucketTime, ...date, start: format(zone.findDay(date.year, date.month, date.day)!.from) };
  }
  if (resolution === 'hour') {
    const local = bucket * hourMs;
    const offsetMs = group.offsetMs ?? offsets[0]!.offsetMs;
    const start = findStartOfHour(offsets, local - offsetMs, offsetMs);
    return { ...noBucketTime, ...toCalendarDate(local), hour: new Date(local).getUTCHours(), start: format(start) };
  }
  const local = bucket + findOffset(offsets, bucket).offsetMs;
  const [hour, minute] = [new Date(local).getUTCHours(), new Date(local).getUTCMinutes()];
  return { ...toCalendarDate(local), hour, minute, start: format(bucket) };
}

/** An offset that changes within an hour cuts it: the part after the change starts at the change. */
function findStartOfHour(offsets: readonly OffsetSpan[], start: number, offsetMs: number): number {
  const span = offsets.find(it => it.offsetMs === offsetMs && it.from < start + hourMs && it.to > start);
  return span ? Math.max(start, span.from) : start;
}

function toCalendarDate(local: number) {
  const at = new Date(local);
  return { day: at.getUTCDate(), month: at.getUTCMonth() + 1, year: at.getUTCFullYear() };
}
