import { systemClock } from '#base/clock.ts';
import type { Budget } from '../budget.ts';
import { TemplateFault } from '../error.ts';
import { layoutText, layoutTime, zoneFormat } from '../layout.ts';
import { isNumber } from '../values.ts';
import { isZone } from '../zone-names.ts';
import { type Fn, type FunctionTable, fixed, text } from './fn.ts';
import { integer } from './numbers.ts';

/** Layouts are examples of one time, not documents. */
const longestLayout = 200;
const htmlLayout = '2006-01-02';
/** The first of January of the year one: a time that could not be read. */
const zeroTimeMs = -62_135_596_800_000;

const now = () => new Date(systemClock.now());

/** A time, or seconds since the epoch; anything else is now. */
const timeOf = (value: unknown): Date =>
  value instanceof Date ? value : isNumber(value) ? new Date(Number(value) * 1000) : now();

/** What it costs to look a zone up that nobody asked for lately. */
const zoneSteps = 50;

function zoneOf(value: unknown, budget: Budget): string {
  const zone = text(value);
  budget.spend(zoneSteps);
  return zone === '' || zone === 'Local' || !isZone(zone) || !zoneFormat(zone) ? 'UTC' : zone;
}

function layoutOf(value: unknown, budget: Budget): string {
  const layout = text(value);
  if (layout.length > longestLayout) throw new TemplateFault(`a layout longer than ${longestLayout} characters`);
  budget.spend(layout.length);
  return layout;
}

const units: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 0.001,
  µs: 0.001,
  ns: 1e-6,
};

/** `1h15m`, `-1.5h`. */
function durationMs(written: string): number {
  if (/^[+-]?0$/.test(written)) return 0;
  if (written.length > longestLayout || !/^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/.test(written))
    throw new TemplateFault(`invalid duration ${JSON.stringify(written.slice(0, 50))}`);
  let ms = 0;
  for (const [, size, unit] of written.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)/g))
    ms += Number(size) * units[unit!]!;
  return written.startsWith('-') ? -ms : ms;
}

function durationText(seconds: number): string {
  const size = Math.abs(Math.trunc(seconds));
  const [hours, minutes] = [Math.floor(size / 3600), Math.floor(size / 60) % 60];
  const longer = hours > 0 ? `${hours}h${minutes}m` : minutes > 0 ? `${minutes}m` : '';
  return `${seconds < 0 ? '-' : ''}${longer}${size % 60}s`;
}

const spans: readonly [letter: string, seconds: number][] = [
  ['y', 31_536_000],
  ['mo', 2_592_000],
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
];

/** The largest unit alone. */
function roundedDuration(value: unknown): string {
  const ms = value instanceof Date ? systemClock.now() - value.getTime() : msOf(value);
  const seconds = Math.abs(ms) / 1000;
  const span = spans.find(([, size]) => seconds > size);
  return span ? `${Math.floor(seconds / span[1])}${span[0]}` : '0s';
}

/** Numbers are nanoseconds. */
const msOf = (value: unknown) => (isNumber(value) ? Number(value) / 1e6 : durationMs(text(value)));

const modified = fixed(2, ([by, at]) => new Date(timeOf(at).getTime() + durationMs(text(by))));
const inZone = fixed(3, ([layout, at, zone], budget) =>
  layoutText(timeOf(at), layoutOf(layout, budget), zoneOf(zone, budget)),
);

const toDate = (otherwise: () => unknown): Fn =>
  fixed(2, ([layout, written], budget) => {
    const found = text(written).length <= longestLayout && layoutTime(layoutOf(layout, budget), text(written));
    return found || otherwise();
  });

export const dates: FunctionTable = {
  now: fixed(0, now),
  date: fixed(2, ([layout, at], budget) => layoutText(timeOf(at), layoutOf(layout, budget), 'UTC')),
  dateInZone: inZone,
  date_in_zone: inZone,
  htmlDate: fixed(1, ([at]) => layoutText(timeOf(at), htmlLayout, 'UTC')),
  htmlDateInZone: fixed(2, ([at, zone], budget) => layoutText(timeOf(at), htmlLayout, zoneOf(zone, budget))),
  dateModify: modified,
  date_modify: modified,
  mustDateModify: modified,
  must_date_modify: modified,
  ago: fixed(1, ([at]) => durationText((systemClock.now() - timeOf(at).getTime()) / 1000)),
  duration: fixed(1, ([seconds]) => durationText(integer(seconds))),
  durationRound: fixed(1, ([value]) => roundedDuration(value)),
  unixEpoch: fixed(1, ([at]) => String(Math.floor(timeOf(at).getTime() / 1000))),
  toDate: toDate(() => new Date(zeroTimeMs)),
  mustToDate: toDate(() => {
    throw new TemplateFault('the time is not written as the layout says');
  }),
};
