import { z } from 'zod';
import { createRecoveryCode, createTotpSecret, findTotpStep, formatTotpUri } from '#base/totp.ts';
import { type Actor, isAdmin } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import type { GroupStore } from '../groups/store.ts';
import { problem as peopleProblem } from '../problems.ts';
import { rejectOutranking } from '../users/grant-check.ts';
import type { UserStore } from '../users/store.ts';
import { problem } from './problems.ts';
import { typedCode, typedPassword } from './schema.ts';
import { type FactorServices, reauthenticate } from './second-factor.ts';
import type { SessionStore } from './store.ts';

export interface FactorOperationServices extends FactorServices {
  users: UserStore;
  groups: GroupStore;
  sessions: SessionStore;
}

/** Bodies have passwords, which no policy agent gets. */
const declared = { surface: 'dashboard', noun: 'session', permission: 'any user', ignoresRules: true } as const;
const issuer = 'Gatewright';
const recoveryCodeCount = 10;
const createRecoveryCodes = () => Array.from({ length: recoveryCodeCount }, createRecoveryCode);
const confirmation = z.object({ password: typedPassword, otp: typedCode.optional() });
const recoveryCodes = z.object({
  recovery_codes: z.array(z.string()).describe('Each replaces the code of the app once; shown now only'),
});

async function findCaller({ users }: FactorOperationServices, actor: Actor) {
  const user = await users.get(actor.orgId, actor.id);
  if (!user) throw peopleProblem.user_not_found();
  return user;
}

export const createTotp = operation({
  ...declared,
  name: 'createTotp',
  method: 'POST',
  path: '/api/session/totp',
  about: 'Creates a secret for an authenticator app (TOTP). Sign-ins need its codes once one has been confirmed.',
  body: confirmation,
  returns: z.object({ secret: z.string(), uri: z.string().describe('For the QR code') }),
  problems: [problem.reauthentication_failed, problem.second_factor_required, problem.limited],
  async handle({ actor, body, address, audit }, services: FactorOperationServices) {
    audit(actor.id);
    const user = await findCaller(services, actor);
    await reauthenticate(services, user, body, address);
    const secret = createTotpSecret();
    await services.factors.setPendingTotp(user, secret, services.clock.now());
    return { secret, uri: formatTotpUri(issuer, user.email_address, secret) };
  },
});

export const confirmTotp = operation({
  ...declared,
  name: 'confirmTotp',
  method: 'POST',
  path: '/api/session/totp/confirm',
  about: 'Requires the codes of the new secret from now on, and returns recovery codes. Ends the other sessions.',
  body: z.object({ otp: typedCode }),
  returns: recoveryCodes,
  problems: [problem.totp_missing, problem.code_wrong, problem.limited],
  async handle({ actor, body, address, audit }, services: FactorOperationServices) {
    audit(actor.id);
    const { factors, sessions, signInLimit, clock } = services;
    const user = await findCaller(services, actor);
    const counted = signInLimit.begin(user.email_address, address);
    const secret = await factors.findTotpSecret(user.id, 'totp_pending');
    if (secret === undefined) throw problem.totp_missing();
    const step = findTotpStep(secret, body.otp.replaceAll(/\s/g, ''), clock.now());
    if (step === undefined) throw problem.code_wrong();
    counted.succeed();
    const codes = createRecoveryCodes();
    await factors.activateTotp(user, secret, step, codes, clock.now());
    await sessions.removeOthers(user.id, actor.sessionId);
    return { recovery_codes: codes };
  },
});

export const renewRecoveryCodes = operation({
  ...declared,
  name: 'renewRecoveryCodes',
  method: 'POST',
  path: '/api/session/recovery-codes',
  about: 'Replaces the recovery codes of the caller.',
  body: confirmation,
  returns: recoveryCodes,
  problems: [problem.totp_missing, problem.reauthentication_failed, problem.second_factor_required, problem.limited],
  async handle({ actor, body, address, audit }, services: FactorOperationServices) {
    audit(actor.id);
    const user = await findCaller(services, actor);
    await reauthenticate(services, user, body, address);
    if ((await services.factors.findTotpSecret(user.id, 'totp')) === undefined) throw problem.totp_missing();
    const codes = createRecoveryCodes();
    await services.factors.replaceRecoveryCodes(user, codes, services.clock.now());
    return { recovery_codes: codes };
  },
});

export const disableTotp = operation({
  ...declared,
  name: 'disableTotp',
  method: 'POST',
  path: '/api/session/totp/disable',
  about: 'Removes the second factor of the caller and its recovery codes.',
  body: confirmation,
  returns: statusResponse,
  problems: [problem.reauthentication_failed, problem.second_factor_required, problem.limited],
  async handle({ actor, body, address, audit }, services: FactorOperationServices) {
    audit(actor.id);
    const user = await findCaller(services, actor);
    await reauthenticate(services, user, body, address);
    await services.factors.removeAll(user.id);
    return toStatus('Second factor removed');
  },
});

export const removeSecondFactor = operation({
  ...declared,
  noun: 'users',
  name: 'removeSecondFactor',
  method: 'DELETE',
  path: '/api/users/{userId}/second-factor',
  about: 'Removes the second factor of another user who has lost it, for an administrator who holds ResetPassword.',
  permission: 'admin',
  params: z.object({ userId: z.string() }),
  returns: statusResponse,
  problems: [peopleProblem.user_not_found, peopleProblem.user_outranks, problem.totp_missing],
  async handle({ actor, params: { userId }, audit }, services: FactorOperationServices) {
    audit(userId);
    const user = await services.users.get(actor.orgId, userId);
    const mayReset = isAdmin(actor) && actor.permissions.ResetPassword === 'admin' && userId !== actor.id;
    if (!user || !mayReset) throw peopleProblem.user_not_found();
    await rejectOutranking(services.groups, actor, user);
    if (!(await services.factors.removeAll(user.id))) throw problem.totp_missing();
    await services.sessions.removeOthers(user.id);
    return toStatus('Second factor removed');
  },
});

export const factorOperations = [createTotp, confirmTotp, renewRecoveryCodes, disableTotp, removeSecondFactor];
