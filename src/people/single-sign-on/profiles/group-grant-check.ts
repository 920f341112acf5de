import type { Actor } from '#operations/actor.ts';
import type { StoredGroup } from '../../groups/schema.ts';
import { findExcess, mergePermissions } from '../../permissions/rank.ts';
import { problem as peopleProblem } from '../../problems.ts';
import { type GrantCheckServices, rejectExcess } from '../../users/grant-check.ts';
import type { TemporaryActors } from '../../users/temporary-actor.ts';
import { problem } from '../problems.ts';

export interface GroupGrantServices extends GrantCheckServices {
  temporaryActors: TemporaryActors;
}

/** Groups that a profile or nonce names, by the member that names them. */
export interface NamedGroup {
  readonly member: string;
  readonly id: string;
}

/**
 * Privilege escalation check of the groups that single sign-on gives: those that are named, and the default group of
 * the installation where a sign-on may match none of them. Inactive groups count, since they may become active. Each
 * group is checked alone as well as all together: a denial of one group would hide what another one gives.
 */
export async function rejectGroupExcess(
  services: GroupGrantServices,
  actor: Actor,
  named: readonly NamedGroup[],
  canMatchNone: boolean,
): Promise<void> {
  const { groups, temporaryActors } = services;
  const found: StoredGroup[] = [];
  for (const { member, id } of named) {
    const group = await groups.get(actor.orgId, id);
    if (!group) throw problem.group_unknown({ detail: { member, id } });
    found.push(group);
  }
  const fallback = canMatchNone ? await groups.get(actor.orgId, temporaryActors.defaultGroupId) : undefined;
  const all = fallback ? [...found, fallback] : found;
  const hiddenOwners = await services.ownership.findHiddenOwners(actor);
  if (all.some(({ id }) => hiddenOwners.hasGroup(id))) throw peopleProblem.group_owns_hidden_apis();
  for (const combination of [[], ...all.map(group => [group]), all]) {
    const given = [temporaryActors.defaults, ...combination.map(group => group.user_permissions)];
    rejectExcess(actor, findExcess(actor.permissions, mergePermissions(given)));
  }
}
