import { Lru } from '#base/lru.ts';
import { nameZone } from './zone-names.ts';

/**
 * Time layouts of Go: a layout shows the reference time, the second of January 2006, 15:04:05.
 */
const tokens = new RegExp(
  [
    'January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|2006|__2|002|01|02|03|04|05|06|15|PM|pm|_2',
    '[Z-]07:00:00|[Z-]070000|[Z-]07:00|[Z-]0700|[Z-]07',
    '[.,]0+(?!\\d)|[.,]9+(?!\\d)|[12345]',
  ].join('|'),
  'g',
);

const months = 'January February March April May June July August September October November December'.split(' ');
const days = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');
const padTwo = (value: number) => String(value).padStart(2, '0');

interface Zoned {
  /** Shifted so that its UTC parts are the local ones. */
  readonly local: Date;
  readonly offsetMinutes: number;
  readonly name: string;
  readonly at: Date;
}

const maxCachedZones = 64;
const zoneFormats = new Lru<string, Intl.DateTimeFormat | null>(maxCachedZones);

/** Cached formatter of a zone; undefined for an unknown zone. */
export function findZoneFormat(zone: string): Intl.DateTimeFormat | undefined {
  let format = zoneFormats.get(zone);
  if (format === undefined) {
    try {
      format = new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        hourCycle: 'h23',
        era: 'short',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      });
    } catch {
      format = null;
    }
    zoneFormats.set(zone, format);
  }
  return format ?? undefined;
}

function toZoned(at: Date, zone: string): Zoned {
  const format = zone === 'UTC' ? undefined : findZoneFormat(zone);
  if (!format) return { local: at, offsetMinutes: 0, name: 'UTC', at };
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const part = (name: string) => Number(parts[name]);
  const year = parts.era === 'BC' ? 1 - part('year') : part('year');
  const local = new Date(Date.UTC(2000, part('month') - 1, part('day'), part('hour'), part('minute'), part('second')));
  local.setUTCFullYear(year, part('month') - 1, part('day'));
  local.setUTCMilliseconds(at.getUTCMilliseconds());
  const offsetMinutes = Math.round((local.getTime() - at.getTime()) / 60_000);
  return { local, offsetMinutes, name: nameZone(zone, offsetMinutes), at };
}

export function formatLayout(at: Date, layout: string, zone: string): string {
  if (Number.isNaN(at.getTime())) return '0001-01-01';
  const it = toZoned(at, zone);
  return layout.replaceAll(tokens, token => formatToken(token, it));
}

function formatToken(token: string, { local, offsetMinutes, name }: Zoned): string {
  const hour = local.getUTCHours();
  switch (token) {
    case 'January':
      return months[local.getUTCMonth()]!;
    case 'Jan':
      return months[local.getUTCMonth()]!.slice(0, 3);
    case 'Monday':
      return days[local.getUTCDay()]!;
    case 'Mon':
      return days[local.getUTCDay()]!.slice(0, 3);
    case 'MST':
      return name;
    case '2006':
      return String(local.getUTCFullYear()).padStart(4, '0');
    case '06':
      return padTwo(local.getUTCFullYear() % 100);
    case '01':
      return padTwo(local.getUTCMonth() + 1);
    case '1':
      return String(local.getUTCMonth() + 1);
    case '02':
      return padTwo(local.getUTCDate());
    case '_2':
      return String(local.getUTCDate()).padStart(2);
    case '2':
      return String(local.getUTCDate());
    case '__2':
      return String(dayOfYear(local)).padStart(3);
    case '002':
      return String(dayOfYear(local)).padStart(3, '0');
    case '15':
      return padTwo(hour);
    case '03':
      return padTwo(hour % 12 || 12);
    case '3':
      return String(hour % 12 || 12);
    case 'PM':
      return hour < 12 ? 'AM' : 'PM';
    case 'pm':
      return hour < 12 ? 'am' : 'pm';
    default:
      return formatSmallToken(token, local, offsetMinutes);
  }
}

function formatSmallToken(token: string, local: Date, offsetMinutes: number): string {
  switch (token) {
    case '04':
      return padTwo(local.getUTCMinutes());
    case '4':
      return String(local.getUTCMinutes());
    case '05':
      return padTwo(local.getUTCSeconds());
    case '5':
      return String(local.getUTCSeconds());
  }
  if (/^[.,]/.test(token)) {
    const digits = String(local.getUTCMilliseconds())
      .padStart(3, '0')
      .padEnd(9, '0')
      .slice(0, token.length - 1);
    const shown = token[1] === '9' ? digits.replace(/0+$/, '') : digits;
    return shown === '' ? '' : token[0] + shown;
  }
  if (token.startsWith('Z') && offsetMinutes === 0) return 'Z';
  const size = Math.abs(offsetMinutes);
  const sign = offsetMinutes < 0 ? '-' : '+';
  const joint = token.includes(':') ? ':' : '';
  const minutes = token.length > 3 ? joint + padTwo(size % 60) : '';
  const seconds = token.length > 6 ? `${joint}00` : '';
  return `${sign}${padTwo(Math.floor(size / 60))}${minutes}${seconds}`;
}

const dayOfYear = (local: Date) =>
  Math.floor((local.getTime() - Date.UTC(local.getUTCFullYear(), 0, 1)) / 86_400_000) + 1;

const shortNames = (names: readonly string[]) => names.map(name => name.slice(0, 3));

const tokenParsers: readonly [RegExp, string, string][] = [
  [/^January$/, `(${months.join('|')})`, 'month-name'],
  [/^Jan$/, `(${shortNames(months).join('|')})`, 'month-name'],
  [/^Monday$/, `(${days.join('|')})`, 'skip'],
  [/^Mon$/, `(${shortNames(days).join('|')})`, 'skip'],
  [/^MST$/, '([A-Z]{3,5}|[+-]\\d{2})', 'skip'],
  [/^2006$/, '(\\d{4})', 'year'],
  [/^06$/, '(\\d{2})', 'short-year'],
  [/^01$/, '(\\d{2})', 'month'],
  [/^1$/, '(\\d{1,2})', 'month'],
  [/^02$/, '(\\d{2})', 'day'],
  [/^(2|_2)$/, ' ?(\\d{1,2})', 'day'],
  [/^(002|__2)$/, ' {0,2}(\\d{1,3})', 'day-of-year'],
  [/^15$/, '(\\d{1,2})', 'hour'],
  [/^03$/, '(\\d{2})', 'half-hour'],
  [/^3$/, '(\\d{1,2})', 'half-hour'],
  [/^04$/, '(\\d{2})', 'minute'],
  [/^4$/, '(\\d{1,2})', 'minute'],
  // A fraction of a second is accepted also where the layout has none.
  [/^05$/, '(\\d{2})(?:[.,]\\d{1,9})?', 'second'],
  [/^5$/, '(\\d{1,2})(?:[.,]\\d{1,9})?', 'second'],
  [/^(PM|pm)$/, '([AaPp][Mm])', 'half'],
  [/^[.,]/, '(?:[.,](\\d{1,9}))?', 'fraction'],
  [/^[Z-]/, '(Z|[+-]\\d{2}(?::?\\d{2})?(?::?\\d{2})?)', 'zone'],
];

/** Parses a time by its layout; undefined where it does not match. */
export function parseLayout(layout: string, text: string): Date | undefined {
  const names: string[] = [];
  let source = '';
  let from = 0;
  for (const { 0: token, index } of layout.matchAll(tokens)) {
    const [, pattern, name] = tokenParsers.find(([which]) => which.test(token))!;
    names.push(name);
    source += escapeRegex(layout.slice(from, index)) + pattern;
    from = index + token.length;
  }
  const found = new RegExp(`^${source}${escapeRegex(layout.slice(from))}$`).exec(text);
  return found ? assembleTime(new Map(names.map((name, at) => [name, found[at + 1] ?? '']))) : undefined;
}

const escapeRegex = (plain: string) => plain.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

function assembleTime(parts: ReadonlyMap<string, string>): Date | undefined {
  const number = (name: string, otherwise: number) => (parts.has(name) ? Number(parts.get(name)) : otherwise);
  const named = parts.get('month-name')?.slice(0, 3).toLowerCase();
  const month = named ? months.findIndex(it => it.slice(0, 3).toLowerCase() === named) : number('month', 1) - 1;
  const short = number('short-year', 70);
  const year = number('year', parts.has('short-year') ? short + (short < 69 ? 2000 : 1900) : 0);
  const half = parts.get('half')?.toLowerCase();
  const clock = number('half-hour', 0);
  if (clock > 12) return undefined;
  const hour = half ? ((clock || number('hour', 0)) % 12) + (half === 'pm' ? 12 : 0) : clock || number('hour', 0);
  const [minute, second, day] = [number('minute', 0), number('second', 0), number('day', 1)];
  if (month < 0 || month > 11 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return undefined;
  const fraction = Math.floor(Number(`0.${parts.get('fraction') || '0'}`) * 1000);
  const at = new Date(Date.UTC(2000, 0, 1, hour, minute, second, fraction));
  if (parts.has('day-of-year')) {
    at.setUTCFullYear(year, 0, number('day-of-year', 1));
    if (number('day-of-year', 1) < 1 || at.getUTCFullYear() !== year) return undefined;
  } else {
    at.setUTCFullYear(year, month, day);
    if (at.getUTCDate() !== day) return undefined;
  }
  const zone = /^([+-])(\d{2}):?(\d{2})?$/.exec(parts.get('zone') ?? '');
  if (!zone) return at;
  const offsetMs = (Number(zone[2]) * 60 + Number(zone[3] ?? 0)) * 60_000;
  return new Date(at.getTime() - (zone[1] === '-' ? -offsetMs : offsetMs));
}
