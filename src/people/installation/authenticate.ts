import type { Actor, Authenticate } from '#operations/actor.ts';
import type { SurfaceName } from '#operations/surfaces.ts';
import type { UserStore } from '../users/store.ts';
import type { InstallationSecret, InstallationSecrets } from './secrets.ts';

/** Longer credentials are rejected without hashing. */
const maxCredentialLength = 4096;

/** Credential check of each surface. */
export function createAuthenticators(
  users: UserStore,
  secrets: InstallationSecrets,
): Record<SurfaceName, Authenticate> {
  const createSecretAuthenticator =
    (surface: InstallationSecret): Authenticate =>
    async credential => {
      if (credential.length > maxCredentialLength || !(await secrets.matches(surface, credential))) return undefined;
      return { surface, id: `${surface} secret`, name: `${surface} secret`, orgId: '', permissions: {} };
    };
  return {
    admin: createSecretAuthenticator('admin'),
    gateway: createSecretAuthenticator('gateway'),
    portal: createSecretAuthenticator('portal'),
    dashboard: createAccessKeyAuthenticator(users),
  };
}

const createAccessKeyAuthenticator =
  (users: UserStore): Authenticate =>
  async (credential): Promise<Actor | undefined> => {
    if (credential.length > maxCredentialLength) return undefined;
    const user = await users.findByAccessKey(credential);
    if (!user?.active) return undefined;
    return {
      surface: 'dashboard',
      id: user.id,
      name: user.email_address,
      orgId: user.org_id,
      groupId: user.group_id,
      permissions: user.user_permissions,
    };
  };
