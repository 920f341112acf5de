import type { Actor, Authenticate } from '#operations/actor.ts';
import type { SurfaceName } from '#operations/operation.ts';
import type { UserStore } from '../users/store.ts';
import type { InstallationSecret, InstallationSecrets } from './secrets.ts';

/** Longer credentials are nobody's; they are not even hashed. */
const longestCredential = 4096;

/** Who presents this credential, on each surface. */
export function authenticators(users: UserStore, secrets: InstallationSecrets): Record<SurfaceName, Authenticate> {
  const bySecret =
    (surface: InstallationSecret): Authenticate =>
    async credential => {
      if (credential.length > longestCredential || !(await secrets.matches(surface, credential))) return undefined;
      return { surface, id: `${surface} secret`, name: `${surface} secret`, orgId: '', permissions: {} };
    };
  return {
    admin: bySecret('admin'),
    gateway: bySecret('gateway'),
    portal: bySecret('portal'),
    dashboard: byAccessKey(users),
  };
}

const byAccessKey =
  (users: UserStore): Authenticate =>
  async (credential): Promise<Actor | undefined> => {
    if (credential.length > longestCredential) return undefined;
    const user = await users.byAccessKey(credential);
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
