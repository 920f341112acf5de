import type { HeaderList } from '../http/headers.ts';

/** `Cache-Control` directives (RFC 9111, section 5.2): lower-case names, each with its value, empty where it has none. */
export type CacheDirectives = ReadonlyMap<string, string>;

const noDirectives: CacheDirectives = new Map();
const directivePattern = /([\w!#$%&'*+.^`|~-]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/g;
/** Their value is a list of field names; without one they are about the whole response. */
const fieldListDirectives: ReadonlySet<string> = new Set(['no-cache', 'private']);

export function parseCacheControl(headers: HeaderList): CacheDirectives {
  if (headers.get('cache-control') === undefined) return noDirectives;
  const directives = new Map<string, string>();
  for (const [, name = '', quoted, plain] of headers.all('cache-control').join(',').matchAll(directivePattern)) {
    const lower = name.toLowerCase();
    const value = quoted?.replaceAll(/\\(.)/g, '$1') ?? plain ?? '';
    const previous = directives.get(lower);
    directives.set(lower, previous === undefined ? value : mergeValues(lower, previous, value));
  }
  return directives;
}

/** Of a repeated directive the stricter one counts. */
function mergeValues(name: string, previous: string, value: string): string {
  if (fieldListDirectives.has(name)) return previous === '' || value === '' ? '' : `${previous},${value}`;
  return Number(value) < Number(previous) ? value : previous;
}

/** Larger values count as this one (RFC 9111, section 1.2.2). */
const maxDeltaSeconds = 2 ** 31;

/** Undefined where it is absent, 0 where it is malformed: then the response is stale. */
export function parseDeltaSeconds(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  return /^\d+$/.test(value) ? Math.min(Number(value), maxDeltaSeconds) : 0;
}
