/** Time zones of the IANA database that the runtime contains. */

/** Span of time with one offset from UTC; `from` is inclusive, `to` exclusive, both in milliseconds. */
export interface OffsetSpan {
  readonly from: number;
  readonly to: number;
  readonly offsetMs: number;
}

/** Milliseconds; the end is exclusive. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

export interface TimeZone {
  readonly name: string;
  /**
   * A day of the calendar: 23 or 25 hours long at a daylight-saving change, not always from midnight, and empty where
   * the zone skipped it. Undefined where the month has no such day.
   */
  findDay(year: number, month: number, day: number): TimeSpan | undefined;
  /** Offsets in use between two times, oldest first; the outer two reach beyond these times. */
  listOffsets(from: number, to: number): OffsetSpan[];
}

/** IANA name, or offset of hours and minutes. */
const zoneName = /^(?:[A-Za-z][\w+/-]{0,63}|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Finds a time zone by its IANA name (`Europe/Berlin`) or offset (`+05:30`); undefined for an unknown one. */
export function findTimeZone(name: string): TimeZone | undefined {
  return zoneName.test(name) && isKnownZone(name) ? createTimeZone(name) : undefined;
}

function createTimeZone(name: string): TimeZone {
  return {
    name,
    findDay(year, month, day) {
      const date = toCalendarDay(year, month, day);
      if (!date) return undefined;
      const startOf = (it: Temporal.PlainDate) => it.toZonedDateTime(name).epochMilliseconds;
      return { from: startOf(date), to: startOf(date.add({ days: 1 })) };
    },
    listOffsets: (from, to) => listOffsets(name, from, to),
  };
}

/** Created without a look-up, which would load the data of all zones at the start. */
export const utcZone: TimeZone = createTimeZone('UTC');

function isKnownZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function toCalendarDay(year: number, month: number, day: number): Temporal.PlainDate | undefined {
  const date = Temporal.PlainDate.from({ year, month, day });
  // Temporal constrains a day that its month does not have to the last one.
  return date.day === day && date.month === month ? date : undefined;
}

function listOffsets(name: string, from: number, to: number): OffsetSpan[] {
  const at = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(name);
  const spans: OffsetSpan[] = [];
  let current = at(from);
  let start = at(from + 1).getTimeZoneTransition('previous')?.epochMilliseconds ?? Number.NEGATIVE_INFINITY;
  for (;;) {
    const next = current.getTimeZoneTransition('next');
    const end = next?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
    spans.push({ from: start, to: end, offsetMs: current.offsetNanoseconds / 1e6 });
    if (!next || end >= to) return spans;
    current = next;
    start = end;
  }
}

const minuteMs = 60_000;
const padTwo = (value: number) => String(value).padStart(2, '0');

/** RFC 3339 time with the offset of its zone: `2026-10-25T02:00:00+01:00`. */
export function formatZonedTime(ms: number, offsetMs: number): string {
  const local = new Date(ms + offsetMs).toISOString().slice(0, 19);
  if (offsetMs === 0) return `${local}Z`;
  const minutes = Math.round(Math.abs(offsetMs) / minuteMs);
  return `${local}${offsetMs < 0 ? '-' : '+'}${padTwo(Math.trunc(minutes / 60))}:${padTwo(minutes % 60)}`;
}
