import { sharedTexts } from '../texts/shared-texts.ts';
import { nowMs } from './browser-clock.ts';

/** Formats of numbers and times, in the language and zone of the user. */

let zone: string | undefined;
let language: string | undefined;

/** Empty texts follow the browser. */
export function setFormats(formats: { readonly timeZone: string; readonly language: string }): void {
  zone = formats.timeZone || undefined;
  language = formats.language || undefined;
}

export const formatNumber = (value: number, maxDigits = 0): string =>
  new Intl.NumberFormat(language, { maximumFractionDigits: maxDigits }).format(value);

export const formatPercent = (share: number): string =>
  new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: share < 0.1 ? 1 : 0 }).format(share);

/** Relative change with its sign: `+12 %`. */
export const formatChange = (share: number): string =>
  new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 0, signDisplay: 'exceptZero' }).format(
    share,
  );

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Size in decimal units: `512 B`, `1.4 MB`. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), byteUnits.length - 1);
  return `${formatNumber(bytes / 1000 ** power, power === 0 ? 0 : 1)} ${byteUnits[power]}`;
}

/** Duration as people say it: `340 ms`, `1.2 s`, `3 min`. */
export function formatMs(ms: number): string {
  if (ms < 1000) return `${formatNumber(ms, ms < 10 ? 1 : 0)} ms`;
  if (ms < 60_000) return `${formatNumber(ms / 1000, 1)} s`;
  if (ms < 3_600_000) return `${formatNumber(ms / 60_000, 1)} min`;
  return `${formatNumber(ms / 3_600_000, 1)} h`;
}

const spans: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
];

/** Exact length in its largest whole unit: `90 s`, `15 min`, `30 d`. */
export function formatSeconds(seconds: number): string {
  const [size, unit] = spans.find(([length]) => seconds >= length && seconds % length === 0) ?? [1, 's'];
  return `${formatNumber(seconds / size, 3)} ${unit}`;
}

const second = 1;
const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', second],
];

/** `3 hours ago`, `in 6 days`. */
export function formatRelative(timeMs: number, now = nowMs()): string {
  const seconds = Math.round((timeMs - now) / 1000);
  const [unit, length] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', second];
  if (unit === 'second' && Math.abs(seconds) < 10) return sharedTexts.kit.justNow;
  return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(Math.trunc(seconds / length), unit);
}

/** Date and time with the name of the zone. */
export const formatTime = (timeMs: number): string =>
  new Intl.DateTimeFormat(language, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
    ...(zone ? { timeZone: zone } : {}),
  }).format(timeMs);

const daySeconds = 86_400;

/** Label of a time axis: the time, and below it the day where it begins; the day alone where steps are days. */
export function formatAxisTime(seconds: number, previous: number | undefined, stepSeconds: number): string {
  const day = (at: number) =>
    new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric', timeZone: zone }).format(at * 1000);
  if (stepSeconds >= daySeconds) return day(seconds);
  const precision = stepSeconds < 60 ? { second: '2-digit' as const } : {};
  const time = new Intl.DateTimeFormat(language, {
    hour: '2-digit',
    minute: '2-digit',
    ...precision,
    timeZone: zone,
  }).format(seconds * 1000);
  return previous !== undefined && day(previous) === day(seconds) ? time : `${time}\n${day(seconds)}`;
}

/** Date whose local fields are those of the user's zone: libraries that know no zones divide days by them. */
export const toZonedDate = (timeMs: number): Date =>
  zone === undefined
    ? new Date(timeMs)
    : new Date(new Date(timeMs).toLocaleString('en-US', { timeZone: zone, hourCycle: 'h23' }));
