import { z } from 'zod';
import { createRecoveryCodeSet, createTotpSecret, findTotpStep, formatTotpUri, normalizeCode } from '#base/totp.ts';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { problem as refusal } from '#operations/problems.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import type { Records } from '#storage/records.ts';
import type { GroupStore } from '../groups/store.ts';
import { problem as peopleProblem } from '../problems.ts';
import { rejectOutranking } from '../users/grant-check.ts';
import type { StoredUser } from '../users/schema.ts';
import type { UserStore } from '../users/store.ts';
import { problem } from './problems.ts';
import { typedCode, typedPassword } from './schema.ts';
import { type FactorServices, reauthenticate } from './second-factor.ts';
import type { SessionStore } from './store.ts';

export interface FactorOperationServices extends FactorServices {
  records: Records;
  users: UserStore;
  groups: GroupStore;
  sessions: SessionStore;
}

const declared = { surface: 'dashboard', noun: 'session', permission: 'any user' } as const;
/** Bodies have passwords, which no policy agent gets. */
const withPassword = { ...declared, ignoresRules: true } as const;
const issuer = 'Gatewright';
export const confirmation = z.object({ password: typedPassword, otp: typedCode.optional() });
/** Problems of a confirmation; a user who signed on without an account has none to confirm. */
export const factorConfirmationProblems = [
  problem.reauthentication_failed,
  problem.reauthentication_code_required,
  problem.limited,
  peopleProblem.user_not_found,
];
const recoveryCodes = z.object({
  recovery_codes: z.array(z.string()).describe('Each replaces the code of the app once; shown now only'),
});

export async function findCaller({ users }: FactorOperationServices, actor: Actor) {
  const user = await users.get(actor.orgId, actor.id);
  if (!user) throw peopleProblem.user_not_found();
  return user;
}

/** Changes the factors of the caller in a transaction that locks the user: concurrent changes wait for each other. */
export const changeFactors = <T>(
  { records, users }: FactorOperationServices,
  { id, orgId }: Actor,
  change: (user: StoredUser) => Promise<T>,
): Promise<T> =>
  records.write(async () => {
    const user = await users.lock(orgId, id);
    if (!user) throw peopleProblem.user_not_found();
    return change(user);
  });

export const createTotp = operation({
  ...withPassword,
  name: 'createTotp',
  method: 'POST',
  path: '/api/session/totp',
  about: 'Creates a secret for an authenticator app (TOTP). Sign-ins require its codes after a code was confirmed.',
  body: confirmation,
  returns: z.object({ secret: z.string(), uri: z.string().describe('For the QR code') }),
  problems: factorConfirmationProblems,
  async handle({ actor, body, address, audit }, services: FactorOperationServices) {
    audit(actor.id);
    const user = await findCaller(services, actor);
    await reauthenticate(services, user, body, address);
    const secret = createTotpSecret();
    await changeFactors(services, actor, it => services.factors.setPendingTotp(it, secret, services.clock.now()));
    return { secret, uri: formatTotpUri(issuer, user.email_address, secret) };
  },
});

export const confirmTotp = operation({
  ...withPassword,
  name: 'confirmTotp',
  method: 'POST',
  path: '/api/session/totp/confirm',
  about: 'Requires the codes of the new secret from now on, and returns recovery codes. Ends the other sessions.',
  body: z.object({ otp: typedCode }),
  returns: recoveryCodes,
  problems: [problem.totp_missing, problem.code_wrong, problem.limited, peopleProblem.user_not_found],
  async handle({ actor, body, address, audit }, services: FactorOperationServices) {
    audit(actor.id);
    const { factors, sessions, signInLimit, clock } = services;
    const caller = await findCaller(services, actor);
    const counted = signInLimit.begin(caller.email_address, address);
    const confirmed = await changeFactors(services, actor, async user => {
      const secret = await factors.findTotpSecret(user.id, 'totp_pending');
      if (secret === undefined) throw problem.totp_missing();
      const step = findTotpStep(secret, normalizeCode(body.otp), clock.now());
      if (step === undefined) throw problem.code_wrong();
      counted.succeed();
      const codes = createRecoveryCodeSet();
      await factors.activateTotp(user, secret, step, codes, clock.now());
      await sessions.removeOthers(user.id, actor.sessionId);
      return { recovery_codes: codes };
    });
    services.accountMails.notify(caller, 'totp-added');
    return confirmed;
  },
});

export const renewRecoveryCodes = operation({
  ...withPassword,
  name: 'renewRecoveryCodes',
  method: 'POST',
  path: '/api/session/recovery-codes',
  about: 'Replaces the recovery codes of the caller.',
  body: confirmation,
  returns: recoveryCodes,
  problems: [problem.totp_missing, ...factorConfirmationProblems],
  async handle({ actor, body, address, audit }, services: FactorOperationServices) {
    audit(actor.id);
    const user = await findCaller(services, actor);
    await reauthenticate(services, user, body, address);
    const codes = createRecoveryCodeSet();
    await changeFactors(services, actor, async it => {
      if ((await services.factors.findTotpSecret(it.id, 'totp')) === undefined) throw problem.totp_missing();
      await services.factors.replaceRecoveryCodes(it, codes, services.clock.now());
    });
    services.accountMails.notify(user, 'recovery-codes-renewed');
    return { recovery_codes: codes };
  },
});

export const disableTotp = operation({
  ...withPassword,
  name: 'disableTotp',
  method: 'POST',
  path: '/api/session/totp/disable',
  about: 'Removes the authenticator app of the caller and its recovery codes.',
  body: confirmation,
  returns: statusResponse,
  problems: [problem.totp_missing, ...factorConfirmationProblems],
  async handle({ actor, body, address, audit }, services: FactorOperationServices) {
    audit(actor.id);
    const user = await findCaller(services, actor);
    await reauthenticate(services, user, body, address);
    if (!(await services.factors.removeTotp(user.id))) throw problem.totp_missing();
    services.accountMails.notify(user, 'totp-removed');
    return toStatus('Second factor removed');
  },
});

async function removeFactors({ factors, sessions, accountMails }: FactorOperationServices, user: StoredUser) {
  if (!(await factors.removeAll(user.id))) throw problem.second_factor_missing();
  await sessions.removeOthers(user.id);
  accountMails.notify(user, 'factors-removed');
  return toStatus('Second factor removed');
}

export const removeSecondFactor = operation({
  ...declared,
  noun: 'users',
  name: 'removeSecondFactor',
  method: 'DELETE',
  path: '/api/users/{userId}/second-factor',
  about:
    'Removes authenticator app, recovery codes and passkeys of another user. Requires an administrator with ResetPassword.',
  permission: 'admin',
  params: z.object({ userId: z.string() }),
  returns: statusResponse,
  problems: [
    peopleProblem.user_not_found,
    peopleProblem.user_outranks,
    refusal.not_permitted,
    problem.own_factor,
    problem.second_factor_missing,
  ],
  async handle({ actor, params: { userId }, audit }, services: FactorOperationServices) {
    audit(userId);
    if (actor.permissions.ResetPassword !== 'admin')
      throw refusal.not_permitted({ detail: { permission: 'ResetPassword' } });
    if (userId === actor.id) throw problem.own_factor();
    const user = await services.users.get(actor.orgId, userId);
    if (!user) throw peopleProblem.user_not_found();
    await rejectOutranking(services.groups, actor, user);
    return removeFactors(services, user);
  },
});

export const adminRemoveSecondFactor = operation({
  surface: 'admin',
  noun: 'users',
  name: 'adminRemoveSecondFactor',
  method: 'DELETE',
  path: '/admin/users/{userId}/second-factor',
  about: 'Removes authenticator app, recovery codes and passkeys of any user, such as of the only administrator.',
  permission: 'secret',
  params: z.object({ userId: z.string() }),
  returns: statusResponse,
  problems: [peopleProblem.user_not_found, problem.second_factor_missing],
  async handle({ params: { userId }, audit }, services: FactorOperationServices) {
    const user = await services.users.getInAnyOrganisation(userId);
    if (!user) throw peopleProblem.user_not_found();
    audit(user.id, user.org_id);
    return removeFactors(services, user);
  },
});

export const factorOperations = [
  createTotp,
  confirmTotp,
  renewRecoveryCodes,
  disableTotp,
  removeSecondFactor,
  adminRemoveSecondFactor,
];
