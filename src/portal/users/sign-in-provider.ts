import { createInvalidProblem } from '#operations/validation-error.ts';
import type { SsoProfileStore } from '../sso-profiles/store.ts';
import type { StoredPortalUser } from './schema.ts';

export interface SignInProviderServices {
  ssoProfiles: Pick<SsoProfileStore, 'get'>;
}

interface WrittenUser {
  readonly Provider?: string | undefined;
  readonly Password?: string | undefined;
}

/** Refuses an unknown `Provider`, and a password for a user who signs on elsewhere: it would open nothing. */
export async function checkSignInProvider(
  { Provider: written, Password }: WrittenUser,
  before: StoredPortalUser | undefined,
  { ssoProfiles }: SignInProviderServices,
): Promise<void> {
  const provider = written ?? before?.Provider ?? 'password';
  if (provider === 'password') return;
  if (provider !== before?.Provider && !(await ssoProfiles.get(provider)))
    throw createInvalidProblem([
      { path: 'Provider', message: 'must be password, or the ID of a single sign-on profile' },
    ]);
  if (Password)
    throw createInvalidProblem([{ path: 'Password', message: `must be empty: the user signs on with ${provider}` }]);
}
