import { systemClock } from '#base/clock.ts';
import type { TemplateBudget } from '../budget.ts';
import { TemplateError } from '../error.ts';
import { findZoneFormat, formatLayout, parseLayout } from '../layout.ts';
import { isNumber } from '../values.ts';
import { isZone } from '../zone-names.ts';
import { type FunctionTable, requireText, type TemplateFunction, withArity } from './fn.ts';
import { toIntegerNumber } from './numbers.ts';

/** Bounds layouts and durations. */
const maxLayoutCharacters = 200;
const htmlLayout = '2006-01-02';
/** Zero time of Go, the first of January of the year one: the result of a failed parse. */
const zeroTimeMs = -62_135_596_800_000;

const now = () => new Date(systemClock.now());

/** Converts a time or epoch seconds; anything else is the current time. */
const toTime = (value: unknown): Date =>
  value instanceof Date ? value : isNumber(value) ? new Date(Number(value) * 1000) : now();

/** Price of a zone that is not cached. */
const zoneSteps = 50;

function toZone(value: unknown, budget: TemplateBudget): string {
  const zone = requireText(value);
  budget.spend(zoneSteps);
  return zone === '' || zone === 'Local' || !isZone(zone) || !findZoneFormat(zone) ? 'UTC' : zone;
}

function requireLayout(value: unknown, budget: TemplateBudget): string {
  const layout = requireText(value);
  if (layout.length > maxLayoutCharacters)
    throw new TemplateError(`a layout longer than ${maxLayoutCharacters} characters`);
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
function parseDurationMs(written: string): number {
  if (/^[+-]?0$/.test(written)) return 0;
  if (written.length > maxLayoutCharacters || !/^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/.test(written))
    throw new TemplateError(`invalid duration ${JSON.stringify(written.slice(0, 50))}`);
  let ms = 0;
  for (const [, size, unit] of written.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)/g))
    ms += Number(size) * units[unit!]!;
  return written.startsWith('-') ? -ms : ms;
}

function formatDuration(seconds: number): string {
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

/** Rounds down to the largest unit. */
function roundDuration(value: unknown): string {
  const ms = value instanceof Date ? systemClock.now() - value.getTime() : toDurationMs(value);
  const seconds = Math.abs(ms) / 1000;
  const span = spans.find(([, size]) => seconds > size);
  return span ? `${Math.floor(seconds / span[1])}${span[0]}` : '0s';
}

/** Converts a duration; numbers are nanoseconds. */
const toDurationMs = (value: unknown) => (isNumber(value) ? Number(value) / 1e6 : parseDurationMs(requireText(value)));

const modifyDate = withArity(2, ([by, at]) => new Date(toTime(at).getTime() + parseDurationMs(requireText(by))));
const formatInZone = withArity(3, ([layout, at, zone], budget) =>
  formatLayout(toTime(at), requireLayout(layout, budget), toZone(zone, budget)),
);

const createToDate = (otherwise: () => unknown): TemplateFunction =>
  withArity(2, ([layout, written], budget) => {
    const found =
      requireText(written).length <= maxLayoutCharacters &&
      parseLayout(requireLayout(layout, budget), requireText(written));
    return found || otherwise();
  });

export const dateFunctions: FunctionTable = {
  now: withArity(0, now),
  date: withArity(2, ([layout, at], budget) => formatLayout(toTime(at), requireLayout(layout, budget), 'UTC')),
  dateInZone: formatInZone,
  date_in_zone: formatInZone,
  htmlDate: withArity(1, ([at]) => formatLayout(toTime(at), htmlLayout, 'UTC')),
  htmlDateInZone: withArity(2, ([at, zone], budget) => formatLayout(toTime(at), htmlLayout, toZone(zone, budget))),
  dateModify: modifyDate,
  date_modify: modifyDate,
  mustDateModify: modifyDate,
  must_date_modify: modifyDate,
  ago: withArity(1, ([at]) => formatDuration((systemClock.now() - toTime(at).getTime()) / 1000)),
  duration: withArity(1, ([seconds]) => formatDuration(toIntegerNumber(seconds))),
  durationRound: withArity(1, ([value]) => roundDuration(value)),
  unixEpoch: withArity(1, ([at]) => String(Math.floor(toTime(at).getTime() / 1000))),
  toDate: createToDate(() => new Date(zeroTimeMs)),
  mustToDate: createToDate(() => {
    throw new TemplateError('the time does not match the layout');
  }),
};
