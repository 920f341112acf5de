import type { Actor, Authenticate } from '#operations/actor.ts';
import type { SurfaceName } from '#operations/surfaces.ts';
import type { ResolveActor } from '../users/actor.ts';
import type { UserStore } from '../users/store.ts';
import type { InstallationSecret, InstallationSecrets } from './secrets.ts';

/** Longer credentials are rejected without hashing. */
const maxCredentialLength = 4096;

/** Credential check of each surface. */
export function createAuthenticators(
  users: UserStore,
  resolveActor: ResolveActor,
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
    dashboard: createAccessKeyAuthenticator(users, resolveActor),
  };
}

const createAccessKeyAuthenticator =
  (users: UserStore, resolveActor: ResolveActor): Authenticate =>
  async (credential): Promise<Actor | undefined> => {
    if (credential.length > maxCredentialLength) return undefined;
    const user = await users.findByAccessKey(credential);
    return user?.active ? resolveActor(user) : undefined;
  };
