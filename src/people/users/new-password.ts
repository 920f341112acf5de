import { type Clock, formatIsoTime } from '#base/clock.ts';
import { findPasswordFaults, hashPassword, verifyPassword } from '#base/passwords.ts';
import type { Settings } from '#base/settings.ts';
import { problem } from '../problems.ts';
import { readPasswordPolicy } from './password-policy.ts';
import type { StoredUser } from './schema.ts';

export interface NewPasswordServices {
  readonly settings: Settings;
  readonly clock: Clock;
}

/** Members of a user that a new password changes. */
export type PasswordChange = Pick<StoredUser, 'password' | 'password_updated' | 'password_history'>;

export function checkPasswordPolicy(password: string, settings: Settings): void {
  const faults = findPasswordFaults(password, readPasswordPolicy(settings));
  if (faults.length === 0) return;
  throw problem.bad_password({ detail: { faults: faults.map(fault => `password: ${fault}`).join('; ') } });
}

export async function hashNewPassword(password: string, settings: Settings): Promise<string> {
  checkPasswordPolicy(password, settings);
  return hashPassword(password);
}

/** Hashes a new password; rejects one of the last `users.password_history`. */
export async function createPasswordChange(
  { settings, clock }: NewPasswordServices,
  user: StoredUser,
  password: string,
): Promise<PasswordChange> {
  checkPasswordPolicy(password, settings);
  const maxEarlier = settings['users.password_history'];
  const earlier = [user.password, ...(user.password_history ?? [])].filter(hash => hash !== '').slice(0, maxEarlier);
  for (const hash of earlier)
    if (await verifyPassword(password, hash))
      throw problem.bad_password({
        detail: { faults: `password: Password may not be one of the last ${maxEarlier}` },
      });
  return {
    password: await hashPassword(password),
    password_updated: formatIsoTime(clock.now()),
    password_history: earlier,
  };
}

const dayMs = 86_400_000;

/** Password ageing: the limit of the user, or else of its group, or else of the settings; 0 means never. */
export function isPasswordExpired(
  user: StoredUser,
  group: Pick<StoredUser, 'password_max_days'> | undefined,
  { settings, clock }: NewPasswordServices,
): boolean {
  const maxDays = user.password_max_days || group?.password_max_days || settings['users.password_max_days'];
  return maxDays > 0 && clock.now() - Date.parse(user.password_updated) > maxDays * dayMs;
}
