import { type Actor, isAdmin } from '#operations/actor.ts';
import { createInvalidProblem, toValidationErrors } from '#operations/validation-error.ts';
import { findExcess } from '../permissions/rank.ts';
import { problem as peopleProblem } from '../problems.ts';
import { type GrantCheckServices, rejectExcess } from '../users/grant-check.ts';
import { problem } from './problems.ts';
import type { IdentityProfile, IdentityProfileWrite } from './profile-schema.ts';
import { restoreMaskedSecrets } from './profile-secrets.ts';
import { providerTable } from './provider-configs.ts';
import type { TemporaryActors } from './temporary-actor.ts';

/** Author and time of a write. */
export interface ProfileAuthor {
  readonly actor: Actor;
  readonly nowMs: number;
}

/** Builds a profile from a body, with the stored secrets where the mask was sent. */
export function buildProfile(
  { Type, ...write }: IdentityProfileWrite,
  { actor, nowMs }: ProfileAuthor,
  before: IdentityProfile | { readonly ID: string },
): IdentityProfile {
  const stored = 'OrgID' in before ? before : undefined;
  const { type, config } = providerTable[write.ProviderName];
  if (Type !== undefined && Type !== type)
    throw createInvalidProblem([{ path: 'Type', message: `must be ${type} with ${write.ProviderName}` }]);
  const sent = restoreMaskedSecrets(write.ProviderConfig, stored?.ProviderConfig, 'ProviderConfig');
  const parsed = config.safeParse(sent);
  if (!parsed.success) throw createInvalidProblem(toValidationErrors(config, sent, parsed.error, 'ProviderConfig'));
  return {
    ...write,
    ID: before.ID,
    OrgID: actor.orgId,
    ProviderConfig: parsed.data,
    SignsInAccounts: isAdmin(actor),
    CreatedAt: stored?.CreatedAt ?? nowMs,
    UpdatedAt: nowMs,
    UpdatedBy: actor.name,
  };
}

export interface ProfileCheckServices extends GrantCheckServices {
  temporaryActors: TemporaryActors;
}

/**
 * Privilege escalation check: the author of a profile decides who an e-mail address or a group belongs to. So a profile
 * maps only to permissions that its author holds, and signs users in to their accounts only where an administrator
 * wrote it.
 */
export async function checkProfileGrant(
  { temporaryActors, groups, ownership }: ProfileCheckServices,
  actor: Actor,
  next: IdentityProfile,
  before?: IdentityProfile,
): Promise<void> {
  if (before?.SignsInAccounts && !isAdmin(actor)) throw problem.profile_of_administrator();
  const groupIds = [...new Set([...Object.values(next.UserGroupMapping), next.DefaultUserGroupID])].filter(Boolean);
  for (const id of groupIds) {
    if (!(await groups.get(actor.orgId, id))) throw problem.group_unknown({ detail: { id } });
    if (await ownership.groupOwnsHiddenApis(actor, id)) throw peopleProblem.group_owns_hidden_apis();
  }
  const { permissions } = await temporaryActors.findPermissions(actor.orgId, groupIds);
  rejectExcess(actor, findExcess(actor.permissions, permissions));
}
