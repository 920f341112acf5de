import type { FastifyRequest } from 'fastify';
import { type AssertedUser, mapAssertedUser } from './asserted-user.ts';
import { problem } from './problems.ts';
import type { IdentityProfile } from './profile-schema.ts';
import type { IdentityProfileStore } from './profile-store.ts';
import { providerTable } from './provider-configs.ts';
import { type OpenedSignOn, openSignOn, type SignOnServices } from './sign-on.ts';
import { type SignOnAttempt, toSignOnClient } from './sign-on-reply.ts';

/** Path of every profile; its listener decides what is before it. */
export const loginPath = '/tib/auth/:profileId/:provider';

export interface ProfileSignOnServices extends SignOnServices {
  identityProfiles: IdentityProfileStore;
}

/** Active profile of a login URL. */
export async function findLoginProfile(
  { identityProfiles }: ProfileSignOnServices,
  request: FastifyRequest,
  attempt: SignOnAttempt,
): Promise<IdentityProfile> {
  const { profileId, provider } = request.params as { profileId: string; provider: string };
  const profile = await identityProfiles.findActive(profileId);
  if (!profile || providerTable[profile.ProviderName].segment !== provider) throw problem.profile_unknown();
  Object.assign(attempt, { orgId: profile.OrgID, object: profile.ID });
  return profile;
}

/** Opens the session of a user whom the provider of a profile has authenticated. */
export function openProfileSignOn(
  services: ProfileSignOnServices,
  profile: IdentityProfile,
  user: AssertedUser,
  request: FastifyRequest,
): Promise<OpenedSignOn> {
  const source = { orgId: profile.OrgID, profileId: profile.ID, signsInAccounts: profile.SignsInAccounts };
  return openSignOn(services, source, mapAssertedUser(profile, user), toSignOnClient(request));
}
