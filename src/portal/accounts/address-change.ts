import { constantTimeEqual } from '#base/constant-time.ts';
import { Problem } from '#base/problems.ts';
import type { StoredSignInToken } from '#people/sessions/token-store.ts';
import { mailSecurityChange } from '../mails/account-mails.ts';
import { readPortalUrl } from '../portal-url.ts';
import { problem } from '../problems.ts';
import type { StoredPortalUser } from '../users/schema.ts';
import { fromSessionOwner, toSessionOwner } from '../users/session-owner.ts';
import { sendAccountMail } from './account-mails.ts';
import type { AccountServices } from './account-services.ts';
import { digestAccount, hasOwnPassword } from './password-reset.ts';

/** Path of the page behind the links. */
export const confirmAddressPath = '/auth/address';
const changePurpose = 'portal address change';

/** A change that waits for its confirmation: sealed in the body of its token. */
interface AddressChange {
  readonly email: string;
  /** Account as it was: the link ends with a change of its address or password. */
  readonly account: string;
}

async function sendConfirmation(user: StoredPortalUser, email: string, client: string, services: AccountServices) {
  const { portal, signInTokens, clock, settings, vault } = services;
  const change: AddressChange = { email, account: digestAccount(user, services) };
  const owner = { purpose: 'portal-address', orgId: '', ownerId: toSessionOwner(user.ID) } as const;
  const expiresAtMs = clock.now() + settings['portal.link_ttl_seconds'] * 1000;
  const body = vault.seal(JSON.stringify(change), changePurpose);
  const token = await signInTokens.insert({ ...owner, expiresAtMs, body }, clock.now());
  await mailSecurityChange(user, `A change of the e-mail address to ${email} was requested`, services, client);
  const isTaken = (await portal.users.findByEmail(email)) !== undefined;
  const url = `${readPortalUrl(settings)}${confirmAddressPath}?token=${token}`;
  if (isTaken) await sendAccountMail('registered', { First: '', Last: '', Email: email }, url, services);
  else await sendAccountMail('verify', { First: user.First, Last: user.Last, Email: email }, url, services);
}

/**
 * Queues a mail to the new address: a link to confirm it, or a note that it has an account; and one to the present
 * address. Answer and time of the request do not depend on which.
 */
export function requestAddressChange(
  user: StoredPortalUser,
  email: string,
  client: string,
  services: AccountServices,
): void {
  if (services.portalMailLimit.allow(email, client))
    services.portalMailQueue.enqueue('portal address change', () => sendConfirmation(user, email, client, services));
}

export interface FoundAddressChange {
  readonly token: StoredSignInToken;
  readonly user: StoredPortalUser;
  readonly email: string;
  readonly account: string;
}

/** Finds the change of a link without using it. */
export async function findAddressChange(
  text: string,
  services: AccountServices,
): Promise<FoundAddressChange | undefined> {
  const { portal, signInTokens, clock, vault } = services;
  const token = text === '' ? undefined : await signInTokens.find('portal-address', text, clock.now());
  if (!token) return undefined;
  const user = await portal.users.get(fromSessionOwner(token.ownerId));
  const { email, account } = JSON.parse(vault.open(token.body, changePurpose)) as AddressChange;
  const isCurrent = hasOwnPassword(user) && constantTimeEqual(account, digestAccount(user, services));
  return isCurrent ? { token, user, email, account } : undefined;
}

/**
 * Changes the address, once, and ends the other sessions; false where the link was used, the account has changed, or
 * another one has the address by now.
 */
export async function completeAddressChange(
  { token, user, email, account }: FoundAddressChange,
  keptSessionId: string,
  client: string,
  services: AccountServices,
): Promise<boolean> {
  const { portal, records, signInTokens, clock } = services;
  try {
    return await records.write(async () => {
      const current = await portal.users.lock(user.ID);
      if (!hasOwnPassword(current) || !constantTimeEqual(account, digestAccount(current, services))) return false;
      if (!(await signInTokens.use(token))) return false;
      await portal.users.change(user.ID, it => ({ ...it, Email: email, UpdatedAt: clock.now() }));
      await portal.sessions.removeOthers(toSessionOwner(user.ID), keptSessionId);
      await mailSecurityChange(current, `The e-mail address was changed to ${email}`, services, client);
      return true;
    });
  } catch (error) {
    if (error instanceof Problem && error.code === problem.user_exists.code) return false;
    throw error;
  }
}
