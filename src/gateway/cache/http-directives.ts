import type { HeaderList } from '../http/headers.ts';
import { type CacheDirectives, parseCacheControl, parseDeltaSeconds } from './cache-control.ts';
import { parseStructuredDictionary } from './structured-dictionary.ts';

/** Targeted cache-control field (RFC 9213) that this cache obeys before `Cache-Control`. */
const targetedField = 'cdn-cache-control';

/** Directives of a response, from the field that counts for this cache. */
export interface ResponseDirectives {
  readonly directives: CacheDirectives;
  /** From the targeted field: `Cache-Control` and `Expires` are ignored. */
  readonly isTargeted: boolean;
}

/** RFC 9213, section 2.2: an empty or malformed targeted field is ignored. */
export function parseResponseDirectives(headers: HeaderList): ResponseDirectives {
  const targeted = headers.has(targetedField) ? parseTargeted(headers.all(targetedField).join(', ')) : undefined;
  return targeted
    ? { directives: targeted, isTargeted: true }
    : { directives: parseCacheControl(headers), isTargeted: false };
}

function parseTargeted(text: string): CacheDirectives | undefined {
  const members = parseStructuredDictionary(text);
  if (!members || members.size === 0) return undefined;
  const directives = new Map<string, string>();
  for (const [name, member] of members) {
    if (member.type === 'list') directives.set(name, 'invalid');
    else if (member.type !== 'boolean') directives.set(name, String(member.value));
    else if (member.value) directives.set(name, '');
  }
  return directives;
}

/** Field names of a qualified `no-cache` or `private`; undefined without the directive, empty for the whole response. */
export function parseFieldNames(
  directives: CacheDirectives,
  name: 'no-cache' | 'private',
): readonly string[] | undefined {
  const value = directives.get(name);
  if (value === undefined) return undefined;
  return value
    .toLowerCase()
    .split(',')
    .map(field => field.trim())
    .filter(field => field !== '');
}

/** Request directives (RFC 9111, section 5.2.1, and RFC 5861, section 4). */
export interface HttpRequestDirectives {
  readonly noCache: boolean;
  readonly onlyIfCached: boolean;
  readonly maxAgeMs: number;
  readonly minFreshMs: number;
  readonly maxStaleMs: number;
  readonly staleIfErrorMs: number;
}

const noRequestDirectives: HttpRequestDirectives = {
  noCache: false,
  onlyIfCached: false,
  maxAgeMs: Number.POSITIVE_INFINITY,
  minFreshMs: 0,
  maxStaleMs: 0,
  staleIfErrorMs: 0,
};

export function parseHttpRequestDirectives(headers: HeaderList): HttpRequestDirectives {
  if (!headers.has('cache-control')) {
    // RFC 9111, section 5.4: only without Cache-Control.
    const isPragma = /(?:^|[\s,])no-cache(?:$|[\s,;=])/i.test(headers.all('pragma').join(','));
    return isPragma ? { ...noRequestDirectives, noCache: true } : noRequestDirectives;
  }
  const directives = parseCacheControl(headers);
  const readMs = (name: string, absent: number) => {
    const seconds = parseDeltaSeconds(directives.get(name));
    return seconds === undefined ? absent : seconds * 1000;
  };
  return {
    noCache: directives.has('no-cache'),
    onlyIfCached: directives.has('only-if-cached'),
    maxAgeMs: readMs('max-age', Number.POSITIVE_INFINITY),
    minFreshMs: readMs('min-fresh', 0),
    maxStaleMs: directives.get('max-stale') === '' ? Number.POSITIVE_INFINITY : readMs('max-stale', 0),
    staleIfErrorMs: readMs('stale-if-error', 0),
  };
}
