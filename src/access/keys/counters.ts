import type { CounterResult, Window } from '#storage/shared/shared.ts';
import type { KeyLimits, Session } from './session.ts';

/** Counter names of keys, shared by rate limiting and by the management operations that read and reset them. */

/** Access to the traffic counters; `application.ts` supplies it. */
export interface KeyCounters {
  /** Resets these counters also where they are persisted; in Redis, while it is unavailable, when it is back. */
  reset(names: readonly string[]): Promise<void>;
  /** Reads a counter without incrementing it. */
  peek(name: string, window: Window): Promise<CounterResult>;
  /** Raises a counter to the count of another one; a window that it opens began with the window of that one. */
  carryOver(from: string, to: string, window: Window): Promise<void>;
}

/** Truncated keyed hash: unique in practice, and no credential in counter names, which are persisted and shared. */
const digestCharacters = 32;

/** Counter owners: requests of one owner are counted together. */
export const keyOwner = (digest: string): string => `k:${digest.slice(0, digestCharacters)}`;
export const organisationOwner = (orgId: string): string => `o:${orgId}`;
/** Keys of one organisation that share counters by pattern. */
export const patternOwner = (orgId: string, text: string): string => `p:${orgId}:${text}`;

/** The length prefix separates scope and owner unambiguously. */
const counterName = (kind: string, owner: string, scope: string) => `${kind}:${scope.length}:${scope}:${owner}`;

export const quotaCounter = (owner: string, scope = ''): string => counterName('quota', owner, scope);
export const rateCounter = (owner: string, scope = ''): string => counterName('rate', owner, scope);
/** One endpoint of one API. */
export const endpointCounter = (
  owner: string,
  apiId: string,
  { method, path }: { readonly method: string; readonly path: string },
): string => counterName('rate', owner, `${apiId} ${method} ${path}`);

/** Counters of rate smoothing: the current allowance, and the hold-off between two changes. */
export const allowanceCounter = (rate: string): string => `allowance:${rate}`;
export const holdOffCounter = (rate: string): string => `holdoff:${rate}`;

/** Quota window: starts with the first request after the previous period, is persisted, counts refused requests. */
export function quotaWindow({ max, renewalSeconds }: NonNullable<KeyLimits['quota']>): Window {
  const periodMs = renewalSeconds === undefined ? Number.POSITIVE_INFINITY : renewalSeconds * 1000;
  return { limit: max, periodMs, countsRefused: true, isPersistent: true };
}

/** Every counter of a key in these scopes. */
export function countersOf(session: Session, owner: string, scopes: readonly string[]): string[] {
  const names = scopes.flatMap(scope => [quotaCounter(owner, scope), ...rateCounters(rateCounter(owner, scope))]);
  for (const [apiId, { scope, endpoints }] of session.rights) {
    if (!scopes.includes(scope)) continue;
    for (const endpoint of endpoints) names.push(...rateCounters(endpointCounter(owner, apiId, endpoint)));
  }
  return names;
}

const rateCounters = (rate: string) => [rate, allowanceCounter(rate), holdOffCounter(rate)];
