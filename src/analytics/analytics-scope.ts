import type { Ownership } from '#apis/owners/store.ts';
import { problem as apis } from '#apis/problems.ts';
import { type Actor, hasPermission, isAdmin } from '#operations/actor.ts';
import { problem } from './problems.ts';

/** APIs whose counts a caller may read. */
export interface AnalyticsScope {
  readonly hiddenApis: readonly string[];
  /** The only visible APIs of a caller with `owned_analytics`; undefined for others. */
  readonly ownedApis?: readonly string[] | undefined;
}

/** `owned_analytics` narrows `analytics` to counts of owned APIs; administrators are not narrowed. */
const isNarrowed = (actor: Actor) => !isAdmin(actor) && hasPermission(actor, 'owned_analytics:read');

export async function findAnalyticsScope(ownership: Ownership, actor: Actor): Promise<AnalyticsScope> {
  const hiddenApis = (await ownership.findHidden(actor)).apiIds;
  return { hiddenApis, ownedApis: isNarrowed(actor) ? await ownership.findOwned(actor) : undefined };
}

/** Rejects an API that a narrowed caller does not own, in the same way whether it exists or not. */
export function rejectUnownedApi({ ownedApis }: AnalyticsScope, apiId: string): void {
  if (ownedApis && !ownedApis.includes(apiId)) throw apis.api_not_owned();
}

/** Rejects what `owned_analytics` leaves out: it allows counts by API, version, method, status, error code and time. */
export function rejectNarrowedActor(actor: Actor, what: string): void {
  if (isNarrowed(actor)) throw problem.owned_counts_only({ detail: { what } });
}
