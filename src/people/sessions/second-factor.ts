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

/** Verifies the second factor of a user: a TOTP code or a recovery code, each of them once. */
export async function verifySecondFactor(
  { factors, signInLimit, accountMails, clock }: FactorServices,
  user: StoredUser,
  otp: string | undefined,
): Promise<FactorResult> {
  const secret = await factors.findTotpSecret(user.id, 'totp');
  if (secret === undefined) return 'accepted';
  if (otp === undefined) return 'missing';
  const counted = signInLimit.beginCode(user.id);
  const code = normalizeCode(otp);
  const step = findTotpStep(secret, code, clock.now());
  const isAccepted =
    step === undefined ? await factors.useRecoveryCode(user.id, code) : await factors.useTotpStep(user.id, step);
  if (isAccepted) counted.succeed();
  else if (signInLimit.isCodeLimited(user.id)) accountMails.notify(user, 'codes-limited');
  return isAccepted ? 'accepted' : 'wrong';
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
