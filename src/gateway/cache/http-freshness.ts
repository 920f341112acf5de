import type { HeaderList } from '../http/headers.ts';
import { type CacheDirectives, parseDeltaSeconds } from './cache-control.ts';
import type { CacheEntry, HttpFreshness } from './cache-entry.ts';
import { parseCacheDate } from './http-date.ts';
import { type HttpRequestDirectives, parseResponseDirectives } from './http-directives.ts';

/** When a request was sent to the upstream, and when the head of its response was received. */
export interface UpstreamTimes {
  readonly requestedAtMs: number;
  readonly receivedAtMs: number;
}

/** RFC 9110, section 15.1; 206 is not among them, since no partial response is stored. */
const heuristicallyCacheable: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]);
/** Heuristic lifetime (RFC 9111, section 4.2.2): this part of the time since the last change. */
const heuristicShare = 0.1;
const maxHeuristicMs = 86_400_000;
/** A stale response that can be validated is stored for so long after its lifetime. */
const validatableMs = 3_600_000;
/** Longer lifetimes count as this one: a year. */
const maxLifetimeMs = 31_536_000_000;

/** Explicit lifetime (RFC 9111, section 4.2.1); undefined where the response has none. */
function readExplicitLifetimeMs(
  headers: HeaderList,
  directives: CacheDirectives,
  isTargeted: boolean,
  { receivedAtMs }: UpstreamTimes,
): number | undefined {
  const seconds = parseDeltaSeconds(directives.get('s-maxage')) ?? parseDeltaSeconds(directives.get('max-age'));
  if (seconds !== undefined) return seconds * 1000;
  const expires = isTargeted ? undefined : headers.get('expires');
  if (expires === undefined) return undefined;
  const expiresAtMs = parseCacheDate(expires, receivedAtMs);
  // An invalid date has expired (RFC 9111, section 5.3).
  if (expiresAtMs === undefined) return 0;
  return Math.max(0, expiresAtMs - (parseCacheDate(headers.get('date'), receivedAtMs) ?? receivedAtMs));
}

function computeHeuristicMs(headers: HeaderList, defaultLifetimeMs: number, { receivedAtMs }: UpstreamTimes): number {
  if (defaultLifetimeMs > 0) return defaultLifetimeMs;
  const changedAtMs = parseCacheDate(headers.get('last-modified'), receivedAtMs);
  if (changedAtMs === undefined) return 0;
  const sentAtMs = parseCacheDate(headers.get('date'), receivedAtMs) ?? receivedAtMs;
  return Math.min(maxHeuristicMs, Math.max(0, (sentAtMs - changedAtMs) * heuristicShare));
}

/** Corrected initial age (RFC 9111, section 4.2.3). */
function computeInitialAgeMs(headers: HeaderList, { requestedAtMs, receivedAtMs }: UpstreamTimes): number {
  const sentAtMs = parseCacheDate(headers.get('date'), receivedAtMs) ?? receivedAtMs;
  const apparentAgeMs = Math.max(0, receivedAtMs - sentAtMs);
  // The first value of a list counts; a malformed one does not (RFC 9111, section 5.1).
  const first = headers.get('age')?.split(',', 1)[0]?.trim();
  const ageMs = first !== undefined && /^\d+$/.test(first) ? parseDeltaSeconds(first)! * 1000 : 0;
  return Math.max(apparentAgeMs, ageMs + Math.max(0, receivedAtMs - requestedAtMs));
}

export const hasValidator = (headers: HeaderList): boolean => headers.has('etag') || headers.has('last-modified');

/** Directives that forbid a stale response (RFC 9111, section 4.2.4). */
const staleForbidding = ['must-revalidate', 'proxy-revalidate', 's-maxage', 'no-cache'];

/** Freshness of a response that may be stored; undefined where storing it would serve nothing. */
export function computeFreshness(
  status: number,
  headers: HeaderList,
  times: UpstreamTimes,
  defaultLifetimeMs: number,
  forcedLifetimeMs?: number,
): HttpFreshness | undefined {
  const { directives, isTargeted } = parseResponseDirectives(headers);
  const explicitMs = forcedLifetimeMs ?? readExplicitLifetimeMs(headers, directives, isTargeted, times);
  const isHeuristic = heuristicallyCacheable.has(status) || directives.has('public');
  if (explicitMs === undefined && !isHeuristic) return undefined;
  const lifetimeMs = Math.min(maxLifetimeMs, explicitMs ?? computeHeuristicMs(headers, defaultLifetimeMs, times));
  const readMs = (name: string) => (parseDeltaSeconds(directives.get(name)) ?? 0) * 1000;
  const freshness: HttpFreshness = {
    initialAgeMs: computeInitialAgeMs(headers, times),
    lifetimeMs,
    requiresValidation: directives.get('no-cache') === '' && forcedLifetimeMs === undefined,
    forbidsStale: staleForbidding.some(name => directives.has(name)),
    staleWhileRevalidateMs: readMs('stale-while-revalidate'),
    staleIfErrorMs: readMs('stale-if-error'),
  };
  const isReusable =
    hasValidator(headers) ||
    (!freshness.requiresValidation && computeRetentionMs(freshness, false) > freshness.initialAgeMs);
  return isReusable ? freshness : undefined;
}

/** Time from the origin's response until the stored one is of no use. */
export function computeRetentionMs(freshness: HttpFreshness, isValidatable: boolean): number {
  const { lifetimeMs, forbidsStale, staleWhileRevalidateMs, staleIfErrorMs } = freshness;
  const staleMs = forbidsStale ? 0 : Math.min(maxLifetimeMs, Math.max(staleWhileRevalidateMs, staleIfErrorMs));
  return lifetimeMs + Math.max(staleMs, isValidatable ? validatableMs : 0);
}

export const computeCurrentAgeMs = (
  { storedAtMs }: CacheEntry,
  { initialAgeMs }: HttpFreshness,
  nowMs: number,
): number => initialAgeMs + Math.max(0, nowMs - storedAtMs);

/** `stale`: as the request allows it; `revalidate`: stale, and refreshed in the background. */
export type Reuse = 'fresh' | 'stale' | 'revalidate' | 'validate';

/** Decides how a stored response satisfies a request (RFC 9111, sections 4.2 and 5.2.1). */
export function decideReuse(entry: CacheEntry, request: HttpRequestDirectives, nowMs: number): Reuse {
  const { http } = entry;
  if (!http || http.requiresValidation || request.noCache) return 'validate';
  const ageMs = computeCurrentAgeMs(entry, http, nowMs);
  // The age that clients see is in whole seconds; `max-age=0` requires a new response.
  if (request.maxAgeMs === 0 || Math.floor(ageMs / 1000) * 1000 > request.maxAgeMs) return 'validate';
  const leftMs = http.lifetimeMs - ageMs;
  if (request.minFreshMs > 0 && leftMs < request.minFreshMs) return 'validate';
  if (leftMs > 0) return 'fresh';
  if (http.forbidsStale) return 'validate';
  const isWithin = (limitMs: number) => limitMs > 0 && -leftMs <= limitMs;
  if (isWithin(request.maxStaleMs)) return 'stale';
  return isWithin(http.staleWhileRevalidateMs) ? 'revalidate' : 'validate';
}

/** True where a stale response may stand in for an error (RFC 5861, section 4). */
export function canReplaceError(entry: CacheEntry, request: HttpRequestDirectives, nowMs: number): boolean {
  const { http } = entry;
  if (!http || http.requiresValidation || http.forbidsStale || request.noCache) return false;
  const allowedMs = Math.max(http.staleIfErrorMs, request.staleIfErrorMs);
  return allowedMs > 0 && computeCurrentAgeMs(entry, http, nowMs) - http.lifetimeMs <= allowedMs;
}
