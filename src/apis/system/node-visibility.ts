import { type Actor, hasPermission } from '#operations/actor.ts';
import type { GrantStore } from '#people/organisations/grant-store.ts';

/**
 * Host names, memory and revisions are facts about the operator's machines: for the secrets of the operator, and for
 * users of the operator's organisation who may read the system. Tenants get numbers alone.
 */
export async function canSeeNodes({ isOperator }: Pick<GrantStore, 'isOperator'>, actor: Actor): Promise<boolean> {
  if (actor.surface === 'admin' || actor.surface === 'gateway') return true;
  return actor.surface === 'dashboard' && hasPermission(actor, 'system:read') && isOperator(actor.orgId);
}
