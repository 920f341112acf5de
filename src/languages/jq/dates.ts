import { raise } from './error.ts';
import { isJqNumber } from './values.ts';

/** Date functions; all times are UTC. */

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = 'January February March April May June July August September October November December'.split(' ');
const abbreviate = (name: string) => name.slice(0, 3);
const dayMs = 86_400_000;
/** Range of Date. */
const maxTimeMs = 8.64e15;
const maxFormatCharacters = 200;

/** Broken-down time of C: year, month from 0, day, hour, minute, second, weekday, day of the year. */
type BrokenDownTime = number[];

export function toBrokenDownTime(seconds: unknown): BrokenDownTime {
  if (!isJqNumber(seconds)) return raise('gmtime() requires a number');
  const ms = Number(seconds) * 1000;
  if (!(Math.abs(ms) <= maxTimeMs)) return raise('error converting number of seconds since epoch to datetime');
  const at = new Date(ms);
  const second = at.getUTCSeconds() + (Number(seconds) - Math.floor(Number(seconds)));
  return [
    at.getUTCFullYear(),
    at.getUTCMonth(),
    at.getUTCDate(),
    at.getUTCHours(),
    at.getUTCMinutes(),
    second,
    at.getUTCDay(),
    Math.floor((Math.floor(ms) - Date.UTC(at.getUTCFullYear(), 0, 1)) / dayMs),
  ];
}

export function toEpochSeconds(parts: unknown): number {
  if (!Array.isArray(parts) || parts.length < 6 || !parts.every(isJqNumber))
    return raise('mktime requires array of 6 numbers');
  const [year, month, day, hour, minute, second] = parts.map(it => Math.floor(Number(it)));
  const at = new Date(0);
  at.setUTCFullYear(year!, month!, day!);
  at.setUTCHours(hour!, minute!, second!);
  const ms = at.getTime();
  return Number.isNaN(ms) ? raise('invalid gmtime representation') : Math.floor(ms / 1000);
}

const padTwo = (value: number) => String(value).padStart(2, '0');
const toTwelveHours = (hour: number) => hour % 12 || 12;

const formatters: Readonly<Record<string, (parts: BrokenDownTime) => string>> = {
  Y: ([year]) => String(year),
  y: ([year]) => padTwo(year! % 100),
  C: ([year]) => padTwo(Math.floor(year! / 100)),
  m: ([, month]) => padTwo(month! + 1),
  d: ([, , day]) => padTwo(day!),
  e: ([, , day]) => String(day).padStart(2),
  H: ([, , , hour]) => padTwo(hour!),
  I: ([, , , hour]) => padTwo(toTwelveHours(hour!)),
  p: ([, , , hour]) => (hour! < 12 ? 'AM' : 'PM'),
  M: ([, , , , minute]) => padTwo(minute!),
  S: ([, , , , , second]) => padTwo(Math.floor(second!)),
  a: parts => abbreviate(days[parts[6]!]!),
  A: parts => days[parts[6]!]!,
  b: ([, month]) => abbreviate(months[month!]!),
  h: ([, month]) => abbreviate(months[month!]!),
  B: ([, month]) => months[month!]!,
  j: parts => String(parts[7]! + 1).padStart(3, '0'),
  u: parts => String(parts[6] || 7),
  w: parts => String(parts[6]),
  s: parts => String(toEpochSeconds(parts)),
  Z: () => 'UTC',
  z: () => '+0000',
  n: () => '\n',
  t: () => '\t',
  '%': () => '%',
};

/** Conversion specifiers that expand to several others. */
const composites: Readonly<Record<string, string>> = {
  T: '%H:%M:%S',
  R: '%H:%M',
  F: '%Y-%m-%d',
  D: '%m/%d/%y',
  c: '%a %b %e %H:%M:%S %Y',
  x: '%m/%d/%y',
  X: '%H:%M:%S',
};
const expandComposites = (format: string) =>
  format.replaceAll(/%([TRFDcxX])/g, (_all, letter: string) => composites[letter]!);

function validateFormat(format: unknown, name: string): string {
  if (typeof format !== 'string') return raise(`${name} requires a string format`);
  return format.length <= maxFormatCharacters ? expandComposites(format) : raise(`${name}: the format is too long`);
}

export function strftime(value: unknown, format: unknown): string {
  // Converting through seconds normalises fields that are out of range.
  const parts = toBrokenDownTime(Array.isArray(value) ? toEpochSeconds(value) : value);
  return validateFormat(format, 'strftime/1').replaceAll(/%(.)/gs, (_all, letter: string) => {
    const write = Object.hasOwn(formatters, letter) ? formatters[letter] : undefined;
    return write ? write(parts) : raise(`strftime/1: unknown %${letter}`);
  });
}

/** Conversion specifiers of strptime: pattern, field and parser; field 6 is the offset from UTC in minutes. */
const parsers: Readonly<Record<string, readonly [pattern: string, part: number, read: (text: string) => number]>> = {
  Y: ['[+-]?\\d{4}', 0, Number],
  y: ['\\d{2}', 0, text => Number(text) + (Number(text) < 69 ? 2000 : 1900)],
  m: ['\\d{1,2}', 1, text => Number(text) - 1],
  b: ['[A-Za-z]+', 1, parseMonth],
  h: ['[A-Za-z]+', 1, parseMonth],
  B: ['[A-Za-z]+', 1, parseMonth],
  d: [' ?\\d{1,2}', 2, Number],
  e: [' ?\\d{1,2}', 2, Number],
  H: ['\\d{1,2}', 3, Number],
  M: ['\\d{1,2}', 4, Number],
  S: ['\\d{1,2}', 5, Number],
  z: ['[+-]\\d{2}:?\\d{2}', 6, parseOffset],
  a: ['[A-Za-z]+', 7, () => 0],
  A: ['[A-Za-z]+', 7, () => 0],
  Z: ['[A-Za-z]+', 7, () => 0],
};

function parseMonth(text: string): number {
  const month = months.findIndex(name => abbreviate(name).toLowerCase() === text.slice(0, 3).toLowerCase());
  return month < 0 ? raise(`${JSON.stringify(text.slice(0, 20))} is not a month`) : month;
}

function parseOffset(text: string): number {
  const digits = text.replaceAll(/\D/g, '');
  return (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2))) * (text.startsWith('-') ? -1 : 1);
}

export function strptime(value: unknown, format: unknown): BrokenDownTime {
  if (typeof value !== 'string') return raise('strptime/1 requires string inputs and arguments');
  const layout = validateFormat(format, 'strptime/1');
  const parts: BrokenDownTime = [1900, 0, 1, 0, 0, 0, 0];
  let at = 0;
  const fails = () =>
    raise(`date ${JSON.stringify(value.slice(0, 40))} does not match format ${JSON.stringify(format)}`);
  for (const [piece, letter] of layout.matchAll(/%(.)|\s+|[^%\s]|%$/gs)) {
    const entry = letter !== undefined && Object.hasOwn(parsers, letter) ? parsers[letter]! : undefined;
    const plain = letter === '%' ? '%' : piece;
    if (letter !== undefined && letter !== '%' && !entry) raise(`strptime/1: unknown %${letter}`);
    const pattern = new RegExp(entry?.[0] ?? (/^\s/.test(piece) ? '\\s*' : RegExp.escape(plain)), 'y');
    pattern.lastIndex = at;
    const found = pattern.exec(value)?.[0] ?? fails();
    at += found.length;
    if (entry) parts[entry[1]] = entry[2](found.trim());
  }
  if (at !== value.length) fails();
  const seconds = toEpochSeconds(parts.slice(0, 6)) - parts[6]! * 60;
  return toBrokenDownTime(seconds);
}
