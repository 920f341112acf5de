import type { CounterResult, Window } from '#storage/shared/shared.ts';
import type { KeyLimits, Session } from './session.ts';

/** What the counters of keys are called, so that those who count and those who show or reset mean the same ones. */

/** What keys have used lies where traffic is counted. Supplied where the product is wired. */
export interface KeyCounters {
  /** Forgets these counters, for good: not even a crash brings them back. */
  reset(names: readonly string[]): Promise<void>;
  /** What a counter says, without counting. */
  peek(name: string, window: Window): Promise<CounterResult>;
}

/** Enough of a keyed hash to tell all keys apart. Names of counters are kept and shared: they hold no credential. */
const digestCharacters = 32;

/** Whose calls are counted together. */
export const keyOwner = (digest: string): string => `k:${digest.slice(0, digestCharacters)}`;
export const organisationOwner = (orgId: string): string => `o:${orgId}`;
/** Keys of one organisation that share their counters. */
export const patternOwner = (orgId: string, text: string): string => `p:${orgId}:${text}`;

/** The length keeps scope and owner apart, whatever characters they hold. */
const counterName = (kind: string, owner: string, scope: string) => `${kind}:${scope.length}:${scope}:${owner}`;

export const quotaCounter = (owner: string, scope = ''): string => counterName('quota', owner, scope);
export const rateCounter = (owner: string, scope = ''): string => counterName('rate', owner, scope);
/** One endpoint of one API. */
export const endpointCounter = (
  owner: string,
  apiId: string,
  { method, path }: { readonly method: string; readonly path: string },
): string => counterName('rate', owner, `${apiId} ${method} ${path}`);

/** Where the allowance of a smoothed rate is kept, and what lets it change only so often. */
export const allowanceCounter = (rate: string): string => `allowance:${rate}`;
export const holdOffCounter = (rate: string): string => `holdoff:${rate}`;

/** A period begins with the first call after the last one, and outlives the process; refused calls are counted too. */
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
