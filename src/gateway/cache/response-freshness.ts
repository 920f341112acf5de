import type { HeaderList } from '../http/headers.ts';
import { type GatewayResponse, isStreaming } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { CacheRules } from './cache-policy.ts';
import { type CacheDirectives, parseCacheControl, parseDeltaSeconds } from './directives.ts';

/** Parts of an answer, and answers that say nothing by themselves. */
const uncacheableStatuses = new Set([206, 304, 416]);
const actionHeader = 'x-gw-cache-action-set';
/** Answers that differ by more than this are hardly asked for twice. */
const maxVaryHeaders = 16;

/** The upstream says by its own header that this answer is to be kept. */
const isStorageRequested = ({ ttlHeader }: CacheRules, headers: HeaderList) =>
  ttlHeader !== undefined && (headers.get(actionHeader) ?? '').trim() !== '';

/** How long an answer is kept; 0: not at all. */
export function computeTtlMs(rules: CacheRules, response: GatewayResponse, nowMs: number): number {
  const { status, headers } = response;
  if (uncacheableStatuses.has(status) || headers.has('content-range')) return 0;
  if (isStreaming(response)) return 0;
  if (parseVary(headers) === undefined) return 0;
  const said = parseCacheControl(headers);
  if (said.has('no-store') || said.has('private') || said.has('no-cache')) return 0;
  const asked = isStorageRequested(rules, headers);
  if (rules.ttlHeader !== undefined && !asked) return 0;
  if (!asked && rules.statuses && !rules.statuses.has(status)) return 0;
  // A cookie is for one call; whoever wants the rest of such an answer kept says so.
  if (!asked && headers.has('set-cookie')) return 0;
  const told = asked ? parseTtlHeader(headers.get(rules.ttlHeader!)) : undefined;
  if (told !== undefined) return told * 1000;
  return Math.max(0, Math.min(rules.ttlMs, computeFreshnessMs(headers, said, nowMs)));
}

/** Undefined where it was not said, or cannot be read. */
function parseTtlHeader(text: string | undefined): number | undefined {
  const seconds = /^\s*(-?\d{1,10})\s*$/.exec(text ?? '')?.[1];
  return seconds === undefined ? undefined : Math.max(0, Number(seconds));
}

/** How long the upstream calls it fresh, from now on; for ever where it says nothing. */
function computeFreshnessMs(headers: HeaderList, said: CacheDirectives, nowMs: number): number {
  const seconds = parseDeltaSeconds(said.get('s-maxage')) ?? parseDeltaSeconds(said.get('max-age'));
  const ageMs = parseAge(headers) * 1000;
  if (seconds !== undefined) return seconds * 1000 - ageMs;
  const expires = headers.get('expires');
  if (expires === undefined) return Number.POSITIVE_INFINITY;
  const sent = Date.parse(headers.get('date') ?? '');
  // What cannot be read has expired.
  return (Date.parse(expires) || 0) - (Number.isNaN(sent) ? nowMs : sent) - ageMs;
}

export const parseAge = (headers: HeaderList): number => parseDeltaSeconds(headers.get('age')?.trim()) ?? 0;

/** The headers of a call its answer depends on, sorted; undefined where it depends on more than can be told. */
export function parseVary(headers: HeaderList): string[] | undefined {
  const names = headers
    .all('vary')
    .flatMap(value => value.toLowerCase().split(','))
    .map(name => name.trim())
    .filter(name => name !== '');
  // Encoded for one caller, it may be unreadable for the next, whether the upstream says so or not.
  if (headers.has('content-encoding')) names.push('accept-encoding');
  const unique = [...new Set(names)].sort();
  return unique.includes('*') || unique.length > maxVaryHeaders ? undefined : unique;
}

/** Said anew for every call, or meant for one. */
const perResponseHeaders = new Set(['age', 'set-cookie', 'set-cookie2', 'x-gw-cached-response']);

/** The headers that are kept: without those that the gateway adds to each answer by itself. */
export function selectStoredHeaders({ extraResponseHeaders }: Exchange, { headers }: GatewayResponse): string[] {
  const added = (extraResponseHeaders ?? []).slice();
  const kept: string[] = [];
  for (const [name, value] of headers) {
    if (perResponseHeaders.has(name.toLowerCase())) continue;
    const at = added.findIndex((other, index) => index % 2 === 0 && other === name && added[index + 1] === value);
    if (at < 0) kept.push(name, value);
    else added.splice(at, 2);
  }
  return kept;
}
