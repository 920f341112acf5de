import type { AddressPolicies } from '#base/address-policies.ts';
import type { GrantStore } from '../../organisations/grant-store.ts';
import type { SignInLimit } from '../../sessions/sign-in-limit.ts';
import type { AssertedUser } from '../asserted-user.ts';
import { isProviderOutage, problem } from '../problems.ts';
import type { IdentityProfile } from '../profiles/schema.ts';
import { authenticateLdap, type LdapCredentials } from './authenticate.ts';
import { toNameKey } from './names.ts';

export interface DirectorySignOnServices {
  signInLimit: SignInLimit;
  addressPolicies: AddressPolicies;
  grants: Pick<GrantStore, 'find'>;
}

/**
 * The limit of failed sign-ins holds for directories too: they may have none, or lock accounts after a few. A search may
 * find one entry by several names: the entry counts beside the name.
 */
export async function authenticateInDirectory(
  { signInLimit, addressPolicies, grants }: DirectorySignOnServices,
  profile: IdentityProfile,
  credentials: LdapCredentials,
  address: string,
): Promise<AssertedUser> {
  const toAccount = (kind: string, name: string) => JSON.stringify([profile.ID, kind, toNameKey(name)]);
  const attempts = [signInLimit.begin(toAccount('name', credentials.username), address)];
  const countEntry = (name: string) => void attempts.push(signInLimit.beginAccount(toAccount('entry', name), address));
  const succeed = () => {
    for (const attempt of attempts) attempt.succeed();
  };
  const policy = addressPolicies.withNetworks((await grants.find(profile.OrgID)).networks);
  const user = await authenticateLdap(profile, credentials, policy, countEntry).catch((error: unknown) => {
    // An unavailable directory is no failed sign-on.
    if (isProviderOutage(error)) succeed();
    throw error;
  });
  if (!user) throw problem.credentials_refused();
  succeed();
  return user;
}
