import type { FastifyRequest } from 'fastify';
import type { ProviderSubject } from './account-link-store.ts';
import { type AssertedUser, mapAssertedUser } from './asserted-user.ts';
import { problem } from './problems.ts';
import { providerTable, readOpenIdConnect } from './profiles/provider-configs.ts';
import type { IdentityProfile } from './profiles/schema.ts';
import type { IdentityProfileStore } from './profiles/store.ts';
import { type OpenedSignOn, openSignOn, type SignOnServices, type SignOnSource } from './sign-on.ts';
import { type SignOnAttempt, toSignOnClient } from './sign-on-reply.ts';

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

/**
 * Opens the session of a user whom the provider of a profile has authenticated. The provider chooses how long that
 * takes: a profile that was changed or removed meanwhile opens none.
 */
export function openProfileSignOn(
  services: ProfileSignOnServices,
  profile: IdentityProfile,
  user: AssertedUser,
  request: FastifyRequest,
): Promise<OpenedSignOn> {
  const source = toSignOnSource(services, profile, user);
  return openSignOn(services, source, mapAssertedUser(profile, user), toSignOnClient(request));
}

export const toSignOnSource = (
  { identityProfiles }: ProfileSignOnServices,
  profile: IdentityProfile,
  user: AssertedUser,
): SignOnSource => ({
  orgId: profile.OrgID,
  profileId: profile.ID,
  signsInAccounts: profile.SignsInAccounts,
  subject: toProviderSubject(profile, user),
  providerSession: user.providerSession,
  idToken: keepsIdToken(profile) ? user.idToken : undefined,
  async recheck() {
    if (!(await identityProfiles.lockUnchanged(profile))) throw problem.profile_changed();
  },
});

const keepsIdToken = ({ ProviderName, ProviderConfig }: IdentityProfile) =>
  ProviderName === 'SocialProvider' && readOpenIdConnect(ProviderConfig).SingleLogout;

/** User of the provider to link an account to; undefined where its identifier does not last. */
export const toProviderSubject = (
  { ProviderName, CustomUserIDField }: IdentityProfile,
  { issuer, subject, isSubjectStable }: AssertedUser,
): ProviderSubject | undefined =>
  isSubjectStable ? { provider: [ProviderName, issuer, CustomUserIDField], issuer, subject } : undefined;
