import type { HeaderList } from '../http/headers.ts';
import { type GatewayResponse, isStreaming } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { type CacheDirectives, parseCacheControl, parseDeltaSeconds } from './cache-control.ts';
import type { CacheRules } from './cache-policy.ts';

/** Partial responses, and those without a representation. */
export const uncacheableStatuses = new Set([206, 304, 416]);
const actionHeader = 'x-gw-cache-action-set';
/** Responses that vary by more headers hardly ever match a second request. */
const maxVaryHeaders = 16;

/** The action header of the upstream enables storage. */
export const isStorageRequested = ({ ttlHeader }: CacheRules, headers: HeaderList) =>
  ttlHeader !== undefined && (headers.get(actionHeader) ?? '').trim() !== '';

/** How long a response is stored (RFC 9111, section 3); 0: not at all. */
export function computeTtlMs(rules: CacheRules, response: GatewayResponse, nowMs: number): number {
  const { status, headers } = response;
  if (uncacheableStatuses.has(status) || headers.has('content-range')) return 0;
  if (isStreaming(response)) return 0;
  if (parseVary(headers) === undefined) return 0;
  const directives = parseCacheControl(headers);
  if (directives.has('no-store') || directives.has('private') || directives.has('no-cache')) return 0;
  const isRequested = isStorageRequested(rules, headers);
  if (rules.ttlHeader !== undefined && !isRequested) return 0;
  if (!isRequested && rules.statuses && !rules.statuses.has(status)) return 0;
  // A cookie is for one client; the action header can still enable storage of the rest of the response.
  if (!isRequested && headers.has('set-cookie')) return 0;
  const ttlSeconds = isRequested ? parseTtlHeader(headers.get(rules.ttlHeader!)) : undefined;
  if (ttlSeconds !== undefined) return ttlSeconds * 1000;
  return Math.max(0, Math.min(rules.ttlMs, computeFreshnessMs(headers, directives, nowMs)));
}

/** Undefined where it is absent or malformed. */
export function parseTtlHeader(text: string | undefined): number | undefined {
  const seconds = /^\s*(-?\d{1,10})\s*$/.exec(text ?? '')?.[1];
  return seconds === undefined ? undefined : Math.max(0, Number(seconds));
}

/** Freshness lifetime (RFC 9111, section 4.2.1) less the age; infinite where the upstream gives none. */
function computeFreshnessMs(headers: HeaderList, directives: CacheDirectives, nowMs: number): number {
  const seconds = parseDeltaSeconds(directives.get('s-maxage')) ?? parseDeltaSeconds(directives.get('max-age'));
  const ageMs = parseAge(headers) * 1000;
  if (seconds !== undefined) return seconds * 1000 - ageMs;
  const expires = headers.get('expires');
  if (expires === undefined) return Number.POSITIVE_INFINITY;
  const sent = Date.parse(headers.get('date') ?? '');
  // An invalid date has expired (RFC 9111, section 5.3).
  return (Date.parse(expires) || 0) - (Number.isNaN(sent) ? nowMs : sent) - ageMs;
}

export const parseAge = (headers: HeaderList): number => parseDeltaSeconds(headers.get('age')?.trim()) ?? 0;

/** Request headers the response varies by, sorted; undefined for `*` and for too many. */
export function parseVary(headers: HeaderList): string[] | undefined {
  const names = headers
    .all('vary')
    .flatMap(value => value.toLowerCase().split(','))
    .map(name => name.trim())
    .filter(name => name !== '');
  // An encoded body is for clients that accept the encoding, also where the upstream sends no Vary.
  if (headers.has('content-encoding')) names.push('accept-encoding');
  const unique = [...new Set(names)].sort();
  return unique.includes('*') || unique.length > maxVaryHeaders ? undefined : unique;
}

/** Headers of a single response. */
const perResponseHeaders = new Set(['age', 'cache-status', 'set-cookie', 'set-cookie2', 'x-gw-cached-response']);

/** The headers to store: without those that the gateway adds to every response. */
export function selectStoredHeaders(
  { extraResponseHeaders }: Exchange,
  { headers }: GatewayResponse,
  excluded: readonly string[] = [],
): string[] {
  const added = (extraResponseHeaders ?? []).slice();
  const stored: string[] = [];
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (perResponseHeaders.has(lower) || excluded.includes(lower)) continue;
    const at = added.findIndex((other, index) => index % 2 === 0 && other === name && added[index + 1] === value);
    if (at < 0) stored.push(name, value);
    else added.splice(at, 2);
  }
  return stored;
}
