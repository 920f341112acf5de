import type { HeaderList } from '../http/headers.ts';

/** What a `Cache-Control` field says: names in lower case, each with its value, empty where it has none. */
export type Directives = ReadonlyMap<string, string>;

const none: Directives = new Map();
const part = /([\w!#$%&'*+.^`|~-]+)(?:[ \t]*=[ \t]*(?:"([^"]*)"|([^\s,"]*)))?/g;

export function directivesOf(headers: HeaderList): Directives {
  const text = headers.get('cache-control');
  if (text === undefined) return none;
  const found = new Map<string, string>();
  for (const [, name = '', quoted, plain] of headers.all('cache-control').join(',').matchAll(part)) {
    const lower = name.toLowerCase();
    const value = quoted ?? plain ?? '';
    const other = found.get(lower);
    // Said twice, the more careful one counts.
    if (other === undefined || Number(value) < Number(other)) found.set(lower, value);
  }
  return found;
}

/** Longer than this nobody means. */
const mostSeconds = 2 ** 31;

/** A number of seconds; undefined where it was not said. What cannot be read is no time at all. */
export function secondsOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  return /^\d+$/.test(value) ? Math.min(Number(value), mostSeconds) : 0;
}
