import { hasPermission } from '#operations/actor.ts';
import { problem as operationProblem } from '#operations/problems.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import type { RunContext } from '../kind.ts';

/** Names of owners: the e-mail address of a user, which is the same in another installation, where the actor may read it. */
export interface OwnerNames {
  toName(userId: string): string;
}

const usersPermission = 'users:read';
const asTheyAre: OwnerNames = { toName: userId => userId };

export async function createOwnerNames(context: RunContext): Promise<OwnerNames> {
  if (!hasPermission(context.actor, usersPermission)) return asTheyAre;
  const emails = new Map((await context.readUsers()).map(user => [user.id, user.email_address]));
  return { toName: userId => emails.get(userId) ?? userId };
}

/** User ids of owners that are named by e-mail address or id. */
export async function resolveOwners(context: RunContext, owners: readonly string[]): Promise<string[]> {
  if (!owners.some(owner => owner.includes('@'))) return [...owners];
  if (!hasPermission(context.actor, usersPermission))
    throw operationProblem.not_permitted({ detail: { permission: usersPermission } });
  const ids = new Map((await context.readUsers()).map(user => [user.email_address, user.id]));
  return owners.map((owner, at) => {
    const id = owner.includes('@') ? ids.get(owner) : owner;
    if (id === undefined)
      throw createInvalidProblem([{ path: `user_owners[${at}]`, message: `there is no user ${owner}` }]);
    return id;
  });
}
