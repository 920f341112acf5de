import { formatHttpDate } from '#base/clock.ts';
import type { HeaderList } from '../http/headers.ts';
import { type GatewayResponse, isStreaming } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { CacheDirectives } from './cache-control.ts';
import type { CacheEntry, HttpFreshness } from './cache-entry.ts';
import type { CacheRules } from './cache-policy.ts';
import { parseFieldNames, parseResponseDirectives } from './http-directives.ts';
import { computeFreshness, computeRetentionMs, hasValidator, type UpstreamTimes } from './http-freshness.ts';
import {
  isStorageRequested,
  parseTtlHeader,
  parseVary,
  selectStoredHeaders,
  uncacheableStatuses,
} from './response-freshness.ts';

/** Statuses whose caching this cache implements (RFC 9111, section 5.2.2.3, `must-understand`). */
const understoodStatuses: ReadonlySet<number> = new Set([
  ...[200, 203, 204, 300, 301, 302, 303, 307, 308],
  ...[400, 401, 403, 404, 405, 410, 414, 500, 501, 502, 503, 504],
]);

/** How a response is stored. */
export interface StoragePlan {
  readonly freshness: HttpFreshness;
  /** For all clients: the response is `public` or has `s-maxage`, and the request identifies no client. */
  readonly isShared: boolean;
  /** Lower-case names of fields that a qualified `no-cache` or `private` excludes. */
  readonly excludedFields: readonly string[];
}

export interface PlannedRequest {
  readonly headers: HeaderList;
  readonly isAnonymous: boolean;
}

/** Storability (RFC 9111, section 3); undefined where the response must not be stored, or it would serve nothing. */
export function planStorage(
  rules: CacheRules,
  request: PlannedRequest,
  response: GatewayResponse,
  times: UpstreamTimes,
): StoragePlan | undefined {
  const { status, headers } = response;
  if (uncacheableStatuses.has(status) || headers.has('content-range') || isStreaming(response)) return undefined;
  if (parseVary(headers) === undefined) return undefined;
  const { directives } = parseResponseDirectives(headers);
  if (!isStorable(status, request.headers, directives)) return undefined;
  const isRequested = isStorageRequested(rules, headers);
  if (rules.ttlHeader !== undefined && !isRequested) return undefined;
  if (!isRequested && rules.statuses && !rules.statuses.has(status)) return undefined;
  const excludedFields = listExcludedFields(directives);
  // A cookie is for one client; a response that excludes it from storage can be stored.
  if (headers.has('set-cookie') && !isRequested && !excludedFields.includes('set-cookie')) return undefined;
  const forcedSeconds = isRequested ? parseTtlHeader(headers.get(rules.ttlHeader!)) : undefined;
  const forcedMs = forcedSeconds === undefined ? undefined : forcedSeconds * 1000;
  const freshness = computeFreshness(status, headers, times, rules.ttlMs, forcedMs);
  if (!freshness) return undefined;
  return { freshness, isShared: request.isAnonymous && isForAllClients(directives), excludedFields };
}

/** The response is stated to be for all clients. */
export const isForAllClients = (directives: CacheDirectives): boolean =>
  directives.has('public') || directives.has('s-maxage');

/** Lower-case names of the fields that a qualified `no-cache` or `private` excludes from storage. */
export const listExcludedFields = (directives: CacheDirectives): readonly string[] => [
  ...(parseFieldNames(directives, 'no-cache') ?? []),
  ...(parseFieldNames(directives, 'private') ?? []),
];

/** The directives of a response allow a shared cache to store it. */
export function isStorable(status: number, request: HeaderList, directives: CacheDirectives): boolean {
  // `must-understand` overrides `no-store` where the status is understood.
  if (directives.has('must-understand')) {
    if (!understoodStatuses.has(status)) return false;
  } else if (directives.has('no-store')) return false;
  if (parseFieldNames(directives, 'private')?.length === 0) return false;
  return !request.has('authorization') || authorizedUses.some(name => directives.has(name));
}

/** Directives that allow storage of a response to a request with credentials (RFC 9111, section 3.5). */
const authorizedUses = ['public', 's-maxage', 'must-revalidate'];

/** The stored form of a response, without its body. */
export function toHttpEntryHead(
  call: Exchange,
  response: GatewayResponse,
  { freshness, excludedFields }: StoragePlan,
  receivedAtMs: number,
): Omit<CacheEntry, 'body'> {
  const headers = selectStoredHeaders(call, response, excludedFields);
  // RFC 9110, section 6.6.1: a recipient with a clock records the time.
  if (!response.headers.has('date')) headers.push('Date', formatHttpDate(receivedAtMs));
  return {
    status: response.status,
    headers,
    ...toStoredTimes(freshness, hasValidator(response.headers), receivedAtMs),
  };
}

export const toStoredTimes = (freshness: HttpFreshness, isValidatable: boolean, receivedAtMs: number) => ({
  storedAtMs: receivedAtMs,
  ageSeconds: Math.floor(freshness.initialAgeMs / 1000),
  expiresAtMs: receivedAtMs + Math.max(0, computeRetentionMs(freshness, isValidatable) - freshness.initialAgeMs),
  http: freshness,
});
