import type { Records } from '#storage/records.ts';
import { createPasswordChange } from '../users/new-password.ts';
import type { StoredUser } from '../users/schema.ts';
import type { UserStore } from '../users/store.ts';
import { problem } from './problems.ts';
import type { ResetLinkServices } from './reset-link.ts';
import type { StoredSignInToken } from './token-store.ts';

export interface PasswordResetServices extends ResetLinkServices {
  records: Records;
  users: UserStore;
}

export interface FoundReset {
  readonly token: StoredSignInToken;
  readonly user: StoredUser;
}

/** Finds the active user of a token in a link, without using it. */
export async function findReset(services: PasswordResetServices, text: string): Promise<FoundReset | undefined> {
  const { users, signInTokens, clock } = services;
  const token = await signInTokens.find('reset', text, clock.now());
  const user = token && (await users.get(token.orgId, token.ownerId));
  return token && user?.active ? { token, user } : undefined;
}

/** Sets the password and uses the token, in one transaction. */
export async function setForgottenPassword(
  services: PasswordResetServices,
  { token, user }: FoundReset,
  password: string,
): Promise<void> {
  const { records, users, signInTokens } = services;
  const change = await createPasswordChange(services, user, password);
  await records.write(async () => {
    if (!(await signInTokens.use(token))) throw problem.token_invalid();
    await users.change({ id: user.id, org_id: user.org_id }, it => ({ ...it, ...change, has_chosen_password: true }));
  });
}
