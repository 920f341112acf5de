import { toAddressKey } from '#base/address-key.ts';
import { formatIsoTime, zeroTime } from '#base/clock.ts';
import { constantTimeEqual } from '#base/constant-time.ts';
import { hashDummyPassword, verifyPassword } from '#base/passwords.ts';
import type { Problem } from '#base/problems.ts';
import type { Actor } from '#operations/actor.ts';
import type { Records } from '#storage/records.ts';
import { findGroupOf } from '../groups/effective-permissions.ts';
import type { GroupStore } from '../groups/store.ts';
import type { OrganisationStore } from '../organisations/store.ts';
import { isPasswordExpired } from '../users/new-password.ts';
import type { StoredUser } from '../users/schema.ts';
import type { UserStore } from '../users/store.ts';
import type { PasskeyStore } from './passkey-store.ts';
import { problem } from './problems.ts';
import { createResetToken, type ResetLinkServices } from './reset-link.ts';
import { type FactorServices, verifySecondFactor } from './second-factor.ts';
import type { SessionStore, StoredSession } from './store.ts';

export interface SignInServices extends ResetLinkServices, FactorServices {
  records: Records;
  users: UserStore;
  groups: GroupStore;
  organisations: OrganisationStore;
  sessions: SessionStore;
  passkeys: PasskeyStore;
}

export interface SignInAttempt {
  readonly username: string;
  readonly password: string;
  readonly orgId?: string | undefined;
  readonly otp?: string | undefined;
  readonly address: string;
  /** Names the account in the audit record, also of a failed attempt. */
  identify(actor: Actor): void;
}

/** Finds the one account that the credentials belong to, within the limit of failures. */
export async function verifyCredentials(services: SignInServices, attempt: SignInAttempt): Promise<StoredUser> {
  const { username, address, identify } = attempt;
  const counted = services.signInLimit.begin(username, address);
  const { known, matching } = await findAccounts(services, attempt);
  const account = matching[0] ?? known[0];
  identify(account ? toAuditActor(account) : unknownActor);
  if (matching.length === 0) throw problem.refused();
  const active = matching.filter(user => user.active);
  if (active.length === 0) throw problem.account_inactive();
  if (active.length > 1) {
    counted.succeed();
    throw await createChoiceProblem(services, active);
  }
  const result = await verifySecondFactor(services, active[0]!, attempt.otp);
  if (result === 'wrong') throw problem.refused();
  counted.succeed();
  if (result === 'missing') throw await createFactorProblem(services, active[0]!);
  return active[0]!;
}

/** A passkey replaces the code, and the password too. */
async function createFactorProblem({ passkeys }: SignInServices, { id }: StoredUser): Promise<Problem> {
  const hasPasskey = (await passkeys.list(id)).length > 0;
  const second_factors = hasPasskey ? ['totp', 'passkey'] : ['totp'];
  return problem.second_factor_required({ detail: { members: { second_factors } } });
}

/** Audit actor of an attempt with an address that no account has; the address may be a mistyped password. */
export const unknownActor: Actor = { surface: 'dashboard', id: '', name: 'unknown user', orgId: '', permissions: {} };

export const toAuditActor = ({ id, email_address: name, org_id: orgId }: StoredUser): Actor => ({
  ...unknownActor,
  id,
  name,
  orgId,
});

/**
 * Accounts of an address, and those whose password matches. Every failed attempt costs the same number of hashes,
 * whether the address has none, one or several accounts: the number depends on the installation alone.
 */
async function findAccounts({ users }: SignInServices, { username, password, orgId, address }: SignInAttempt) {
  const known = await users.findByEmail(username, orgId);
  const attempts = orgId === undefined ? Math.max(1, await users.countAccountsPerEmail()) : 1;
  const flow = { client: toAddressKey(address), account: username };
  const matching: StoredUser[] = [];
  for (const user of known) if (await verifyPassword(password, user.password, flow)) matching.push(user);
  for (let index = known.length; index < attempts; index++) await hashDummyPassword(password, flow);
  return { known, matching };
}

async function createChoiceProblem({ organisations }: SignInServices, users: readonly StoredUser[]): Promise<Problem> {
  const found = await Promise.all(users.map(user => organisations.get(user.org_id)));
  const choices = found.flatMap(it => (it ? [{ id: it.id, owner_name: it.owner_name }] : []));
  return problem.organisation_required({ detail: { members: { organisations: choices } } });
}

/** Seconds in which an expired password can be replaced after the sign-in that was refused for it. */
const expiredResetTtlSeconds = 900;

/** Rejects a sign-in with an expired password, or a first one that has to be changed, with the token to set a new one. */
export async function rejectExpiredPassword(services: SignInServices, user: StoredUser): Promise<void> {
  const { settings, groups } = services;
  const isFirst =
    settings['users.reset_first_password'] && user.last_login_date === zeroTime && !user.has_chosen_password;
  if (!isFirst && !isPasswordExpired(user, await findGroupOf(groups, user), services)) return;
  const { token } = await createResetToken(services, user, expiredResetTtlSeconds);
  throw problem.password_expired({ detail: { members: { reset_token: token } } });
}

/**
 * Opens a session for an account whose credentials were verified. The account may have changed since: a session is
 * opened only while it is active and has the same password.
 */
export async function openSession(
  { records, users, sessions, clock }: SignInServices,
  verified: StoredUser,
  client: { readonly address: string; readonly userAgent: string },
  alsoWrite?: () => Promise<void>,
): Promise<{ token: string; session: StoredSession; user: StoredUser }> {
  return records.write(async () => {
    const user = await users.change({ id: verified.id, org_id: verified.org_id }, it => {
      if (!it.active || !constantTimeEqual(it.password, verified.password)) throw problem.refused();
      return { ...it, last_login_date: formatIsoTime(clock.now()) };
    });
    if (!user) throw problem.refused();
    await alsoWrite?.();
    const opened = await sessions.insert({ orgId: user.org_id, userId: user.id, ...client }, clock.now());
    return { ...opened, user };
  });
}
