import { constantTimeEqual } from '#base/constant-time.ts';
import type { Flow } from '#base/fair-queue.ts';
import type { StoredSignInToken } from '#people/sessions/token-store.ts';
import { mailSecurityChange } from '../mails/account-mails.ts';
import { readPortalUrl } from '../portal-url.ts';
import { hashCheckedPassword } from '../users/creation.ts';
import type { StoredPortalUser } from '../users/schema.ts';
import { fromSessionOwner, toSessionOwner } from '../users/session-owner.ts';
import { portalMessages } from '../webhooks/notify.ts';
import { sendAccountMail } from './account-mails.ts';
import type { AccountServices } from './account-services.ts';

/** Path of the page behind the links. */
export const newPasswordPath = '/auth/password/edit';
const unknownOwner = 'portal: unknown address';
const accountPurpose = 'portal password reset';

/** Accounts of other identity providers have no password here. */
export const hasOwnPassword = (user: StoredPortalUser | undefined): user is StoredPortalUser =>
  user?.Active === true && user.Provider === 'password';

/** Token with which a user sets a password, once; an unknown address costs a write too (enumeration by timing). */
function createToken(ownerId: string, body: string, services: AccountServices): Promise<string> {
  const { signInTokens, clock, settings } = services;
  const expiresAtMs = clock.now() + settings['portal.link_ttl_seconds'] * 1000;
  return signInTokens.insert({ purpose: 'portal-reset', orgId: '', ownerId, expiresAtMs, body }, clock.now());
}

/** Account as it is when a token is issued: the token ends with a change of its address or password. */
export const digestAccount = ({ ID, Email, Password }: StoredPortalUser, { vault }: Pick<AccountServices, 'vault'>) =>
  vault.digest(JSON.stringify([ID, Email, Password]), accountPurpose);

export const isOfAccount = ({ body }: StoredSignInToken, user: StoredPortalUser, services: AccountServices) =>
  constantTimeEqual(body, digestAccount(user, services));

/** Path of the page on which a user sets a new password. */
export const createResetPath = async (user: StoredPortalUser, services: AccountServices): Promise<string> =>
  `${newPasswordPath}?token=${await createToken(toSessionOwner(user.ID), digestAccount(user, services), services)}`;

async function sendLink(email: string, services: AccountServices): Promise<void> {
  const user = await services.portal.users.findByEmail(email);
  if (!hasOwnPassword(user)) return void (await createToken(unknownOwner, '', services));
  const url = readPortalUrl(services.settings) + (await createResetPath(user, services));
  await services.portal.notify('PasswordReset', portalMessages.user(user));
  await sendAccountMail('reset', user, url, services);
}

/** Queues the mail behind the response, whose time does not depend on whether the address has an account. */
export function requestPasswordReset(email: string, address: string, services: AccountServices): void {
  if (services.portalMailLimit.allow(email, address))
    services.portalMailQueue.enqueue('portal password reset', () => sendLink(email, services));
}

export interface FoundPortalReset {
  readonly token: StoredSignInToken;
  readonly user: StoredPortalUser;
}

/** Finds the user of a link without using it. */
export async function findPortalReset(text: string, services: AccountServices): Promise<FoundPortalReset | undefined> {
  const { portal, signInTokens, clock } = services;
  const token = text === '' ? undefined : await signInTokens.find('portal-reset', text, clock.now());
  const user = await portal.users.get(fromSessionOwner(token?.ownerId ?? ''));
  return token && hasOwnPassword(user) && isOfAccount(token, user, services) ? { token, user } : undefined;
}

/** Sets the password of a link and ends all sessions of the user; false where the link was used meanwhile. */
export async function setPortalPassword(
  { token, user }: FoundPortalReset,
  password: string,
  flow: Flow,
  services: AccountServices,
): Promise<boolean> {
  const { portal, records, signInTokens, clock, settings } = services;
  const hash = await hashCheckedPassword(password, settings, flow);
  return records.write(async () => {
    const current = await portal.users.lock(user.ID);
    if (!hasOwnPassword(current) || !isOfAccount(token, current, services)) return false;
    if (!(await signInTokens.use(token))) return false;
    await portal.users.change(user.ID, it => ({
      ...it,
      Password: hash,
      ResetPassword: false,
      UpdatedAt: clock.now(),
    }));
    await portal.sessions.removeOthers(toSessionOwner(user.ID));
    await signInTokens.removeOfOwner('portal-reset', token.ownerId);
    await mailSecurityChange(current, 'The password was changed', services);
    return true;
  });
}
