import { toAddressKey } from '#base/address-key.ts';
import { verifyPassword } from '#base/passwords.ts';
import { createRecoveryCodeSet, createTotpSecret, findTotpStep, normalizeCode } from '#base/totp.ts';
import { type FactorResult, verifyFactorCode } from '#people/sessions/second-factor.ts';
import type { SignInLimit } from '#people/sessions/sign-in-limit.ts';
import { mailSecurityChange } from '../mails/account-mails.ts';
import type { PortalServices } from '../portal-stores.ts';
import type { StoredPortalUser } from '../users/schema.ts';
import { toSessionOwner } from '../users/session-owner.ts';

export interface PortalFactorServices extends Pick<PortalServices, 'portal' | 'records' | 'clock' | 'settings'> {
  portalSignInLimit: SignInLimit;
}

const toOwner = ({ ID }: Pick<StoredPortalUser, 'ID'>) => ({ id: toSessionOwner(ID), org_id: '' });

/** Verifies the code of a user, who gets a mail where no further code is accepted. */
export async function verifyPortalFactor(
  user: StoredPortalUser,
  otp: string | undefined,
  services: PortalFactorServices,
): Promise<FactorResult> {
  const { portal, clock, portalSignInLimit } = services;
  const { id } = toOwner(user);
  const result = await verifyFactorCode({ factors: portal.factors, signInLimit: portalSignInLimit, clock }, id, otp);
  if (result === 'wrong' && portalSignInLimit.isCodeLimited(id))
    await mailSecurityChange(user, 'Too many wrong codes were sent with the password', services);
  return result;
}

export interface GivenCredentials {
  readonly password: string;
  readonly otp: string;
  readonly address: string;
}

/**
 * Re-authentication before a change of the second factor: a session alone cannot make one. Failures count as failed
 * sign-ins.
 */
export async function isReauthenticated(
  user: StoredPortalUser,
  { password, otp, address }: GivenCredentials,
  services: PortalFactorServices,
): Promise<boolean> {
  if (user.Provider !== 'password') return false;
  const counted = services.portalSignInLimit.begin(user.Email, address);
  const flow = { client: toAddressKey(address), account: user.Email };
  if (!(await verifyPassword(password, user.Password, flow))) return false;
  if ((await verifyPortalFactor(user, otp, services)) !== 'accepted') return false;
  counted.succeed();
  return true;
}

/** Creates the secret of an authenticator app; sign-ins require its codes after one was confirmed. */
export async function createPortalTotp(user: StoredPortalUser, { portal, clock }: PortalFactorServices) {
  const secret = createTotpSecret();
  await portal.factors.setPendingTotp(toOwner(user), secret, clock.now());
  return secret;
}

export const findPendingTotp = (user: StoredPortalUser, { portal }: PortalFactorServices) =>
  portal.factors.findTotpSecret(toOwner(user).id, 'totp_pending');

/** Requires codes of the pending secret from now on, and ends the other sessions; undefined for a wrong code. */
export function confirmPortalTotp(
  { ID }: StoredPortalUser,
  otp: string,
  { sessionId, address }: { readonly sessionId: string; readonly address: string },
  services: PortalFactorServices,
): Promise<readonly string[] | undefined> {
  const { portal, records, clock } = services;
  const owner = toOwner({ ID });
  return records.write(async () => {
    const user = await portal.users.lock(ID);
    const secret = user?.Active ? await portal.factors.findTotpSecret(owner.id, 'totp_pending') : undefined;
    const step = secret === undefined ? undefined : findTotpStep(secret, normalizeCode(otp), clock.now());
    if (!user || secret === undefined || step === undefined) return undefined;
    const codes = createRecoveryCodeSet();
    await portal.factors.activateTotp(owner, secret, step, codes, clock.now());
    await portal.sessions.removeOthers(owner.id, sessionId);
    await mailSecurityChange(user, 'An authenticator app was added', services, address);
    return codes;
  });
}

/** Replaces the recovery codes of a user with an authenticator app; undefined without one. */
export function renewPortalCodes(
  { ID }: StoredPortalUser,
  address: string,
  services: PortalFactorServices,
): Promise<readonly string[] | undefined> {
  const { portal, records, clock } = services;
  const owner = toOwner({ ID });
  return records.write(async () => {
    const user = await portal.users.lock(ID);
    if (!user || !(await portal.factors.hasTotp(owner.id))) return undefined;
    const codes = createRecoveryCodeSet();
    await portal.factors.replaceRecoveryCodes(owner, codes, clock.now());
    await mailSecurityChange(user, 'The recovery codes were replaced', services, address);
    return codes;
  });
}

/** Removes authenticator app and recovery codes; false where the user has none. */
export function removePortalTotp(
  { ID }: StoredPortalUser,
  what: string,
  services: Omit<PortalFactorServices, 'portalSignInLimit'>,
  address = '',
): Promise<boolean> {
  const { portal, records } = services;
  return records.write(async () => {
    const user = await portal.users.lock(ID);
    if (!user || !(await portal.factors.removeTotp(toOwner({ ID }).id))) return false;
    await mailSecurityChange(user, what, services, address);
    return true;
  });
}
