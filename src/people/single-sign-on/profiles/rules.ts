import type { Actor } from '#operations/actor.ts';
import { createInvalidProblem, toValidationErrors } from '#operations/validation-error.ts';
import { isFullAdministrator } from '../../permissions/rank.ts';
import { problem } from '../problems.ts';
import { type GroupGrantServices, type NamedGroup, rejectGroupExcess } from './group-grant-check.ts';
import { providerTable } from './provider-configs.ts';
import type { IdentityProfile, IdentityProfileWrite } from './schema.ts';
import { restoreMaskedSecrets } from './secrets.ts';

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
    SignsInAccounts: isFullAdministrator(actor.permissions),
    CreatedAt: stored?.CreatedAt ?? nowMs,
    UpdatedAt: nowMs,
    UpdatedBy: actor.name,
  };
}

/**
 * Privilege escalation check: the author of a profile decides who an e-mail address or a group belongs to. So a profile
 * maps only to permissions that its author holds, and signs users in to their accounts only where an administrator
 * wrote it to whom nothing is denied.
 */
export async function checkProfileGrant(
  services: GroupGrantServices,
  actor: Actor,
  { UserGroupMapping, DefaultUserGroupID }: IdentityProfile,
): Promise<void> {
  const mapped = [...new Set(Object.values(UserGroupMapping))].map(id => ({ member: 'UserGroupMapping', id }));
  const named: NamedGroup[] = [...mapped, { member: 'DefaultUserGroupID', id: DefaultUserGroupID }];
  await rejectGroupExcess(
    services,
    actor,
    named.filter(({ id }) => id !== ''),
    DefaultUserGroupID === '',
  );
}

/** Rejects a change of a profile that signs users in to their accounts by an actor who could not write it. */
export function rejectForeignProfile(actor: Actor, before: IdentityProfile): void {
  if (before.SignsInAccounts && !isFullAdministrator(actor.permissions)) throw problem.profile_of_administrator();
}
