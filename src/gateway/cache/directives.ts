import type { HeaderList } from '../http/headers.ts';

/** What a `Cache-Control` field says: names in lower case, each with its value, empty where it has none. */
export type CacheDirectives = ReadonlyMap<string, string>;

const noDirectives: CacheDirectives = new Map();
const directivePattern = /([\w!#$%&'*+.^`|~-]+)(?:[ \t]*=[ \t]*(?:"([^"]*)"|([^\s,"]*)))?/g;

export function parseCacheControl(headers: HeaderList): CacheDirectives {
  const text = headers.get('cache-control');
  if (text === undefined) return noDirectives;
  const directives = new Map<string, string>();
  for (const [, name = '', quoted, plain] of headers.all('cache-control').join(',').matchAll(directivePattern)) {
    const lower = name.toLowerCase();
    const value = quoted ?? plain ?? '';
    const previous = directives.get(lower);
    // Said twice, the more careful one counts.
    if (previous === undefined || Number(value) < Number(previous)) directives.set(lower, value);
  }
  return directives;
}

/** Longer than this nobody means. */
const maxDeltaSeconds = 2 ** 31;

/** A number of seconds; undefined where it was not said. What cannot be read is no time at all. */
export function parseDeltaSeconds(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  return /^\d+$/.test(value) ? Math.min(Number(value), maxDeltaSeconds) : 0;
}
