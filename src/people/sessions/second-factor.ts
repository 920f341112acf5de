import { toAddressKey } from '#base/address-key.ts';
import type { Clock } from '#base/clock.ts';
import { verifyPassword } from '#base/passwords.ts';
import { findTotpStep, normalizeCode } from '#base/totp.ts';
import type { StoredUser } from '../users/schema.ts';
import type { AccountMails } from './account-mails.ts';
import type { FactorStore } from './factor-store.ts';
import { problem } from './problems.ts';
import type { SignInLimit } from './sign-in-limit.ts';

export interface FactorServices {
  factors: FactorStore;
  signInLimit: SignInLimit;
  accountMails: AccountMails;
  clock: Clock;
}

export type FactorResult = 'accepted' | 'missing' | 'wrong';

/** Verifies the second factor of an account: a TOTP code or a recovery code, each of them once. */
export async function verifyFactorCode(
  { factors, signInLimit, clock }: Pick<FactorServices, 'factors' | 'signInLimit' | 'clock'>,
  userId: string,
  otp: string | undefined,
): Promise<FactorResult> {
  const secret = await factors.findTotpSecret(userId, 'totp');
  if (secret === undefined) return 'accepted';
  if (otp === undefined) return 'missing';
  const counted = signInLimit.beginCode(userId);
  const code = normalizeCode(otp);
  const step = findTotpStep(secret, code, clock.now());
  const isAccepted =
    step === undefined ? await factors.useRecoveryCode(userId, code) : await factors.useTotpStep(userId, step);
  if (isAccepted) counted.succeed();
  return isAccepted ? 'accepted' : 'wrong';
}

/** Verifies the second factor of a dashboard user, who gets a mail where no further code is accepted. */
export async function verifySecondFactor(
  services: FactorServices,
  user: StoredUser,
  otp: string | undefined,
): Promise<FactorResult> {
  const result = await verifyFactorCode(services, user.id, otp);
  if (result === 'wrong' && services.signInLimit.isCodeLimited(user.id))
    services.accountMails.notify(user, 'codes-limited');
  return result;
}

/**
 * Re-authentication before a change of credentials: a session or access key alone cannot make one. Failures count as
 * failed sign-ins.
 */
export async function reauthenticate(
  services: FactorServices,
  user: StoredUser,
  given: { readonly password: string; readonly otp?: string | undefined },
  address: string,
): Promise<void> {
  const counted = services.signInLimit.begin(user.email_address, address);
  const flow = { client: toAddressKey(address), account: user.email_address };
  if (!(await verifyPassword(given.password, user.password, flow))) throw problem.reauthentication_failed();
  const result = await verifySecondFactor(services, user, given.otp);
  if (result === 'wrong') throw problem.reauthentication_failed();
  counted.succeed();
  if (result === 'missing')
    throw problem.reauthentication_code_required({ detail: { members: { second_factors: ['totp'] } } });
}
