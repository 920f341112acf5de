import { z } from 'zod';
import { type Assertion, readAssertion, webauthnProblem } from '#base/webauthn.ts';
import { operation } from '#operations/operation.ts';
import type { StoredUser } from '../users/schema.ts';
import { type SessionServices, startSession } from './operations.ts';
import { challengeTtlMs } from './passkey-challenges.ts';
import { type PasskeyServices, requireRelyingParty } from './passkey-operations.ts';
import { AssertionCredential, RequestOptions, toAssertionResponse, toUserHandle } from './passkey-schema.ts';
import type { StoredPasskey } from './passkey-store.ts';
import { problem } from './problems.ts';
import { CurrentSession } from './schema.ts';
import { toAuditActor, unknownActor } from './sign-in.ts';

export type PasskeySignInServices = SessionServices & PasskeyServices;

const declared = { surface: 'dashboard', noun: 'session', permission: 'public' } as const;
const jsonOnly = { only: ['application/json'] } as const;

export const startPasskeySignIn = operation({
  ...declared,
  name: 'startPasskeySignIn',
  method: 'POST',
  path: '/api/session/passkey/challenge',
  about: 'Returns the options with which a browser signs in with a passkey (WebAuthn), valid for five minutes.',
  accepts: jsonOnly,
  body: z.object({}),
  returns: z.object({ publicKey: RequestOptions }),
  problems: [problem.passkeys_unavailable],
  async handle(_call, services: PasskeySignInServices) {
    const { id: rpId } = requireRelyingParty(services);
    const challenge = services.passkeyChallenges.create({ purpose: 'sign-in', userId: '' });
    return { publicKey: { challenge, rpId, timeout: challengeTtlMs, userVerification: 'required' as const } };
  },
});

/** Finds the passkey of an assertion and its user, whose id the authenticator returned. */
async function findPasskey({ passkeys, users }: PasskeySignInServices, assertion: Assertion) {
  const passkey = await passkeys.find(assertion.credentialId);
  const user = passkey && (await users.get(passkey.orgId, passkey.userId));
  return passkey && user && { passkey, user };
}

const isValid = (assertion: Assertion, passkey: StoredPasskey, user: StoredUser): boolean =>
  assertion.userHandle === toUserHandle(user.id) && assertion.isSignedBy(passkey.key);

export const signInWithPasskey = operation({
  ...declared,
  name: 'signInWithPasskey',
  method: 'POST',
  path: '/api/session/passkey',
  about: 'Signs a user in with a passkey and sets the session cookie. Replaces both the password and the code.',
  accepts: jsonOnly,
  headers: { 'user-agent': 'Shown in the list of sessions' },
  body: z.object({ credential: AssertionCredential }),
  returns: CurrentSession,
  problems: [
    problem.passkeys_unavailable,
    webauthnProblem.malformed,
    webauthnProblem.rejected,
    problem.challenge_invalid,
    problem.passkey_refused,
    problem.account_inactive,
    problem.limited,
  ],
  async handle(call, services: PasskeySignInServices) {
    const { passkeyChallenges, passkeys, signInLimit, clock } = services;
    const counted = signInLimit.beginFromAddress(call.address);
    const assertion = readAssertion(toAssertionResponse(call.body.credential), requireRelyingParty(services));
    const found = await findPasskey(services, assertion);
    call.identify(found ? toAuditActor(found.user) : unknownActor);
    if (!found || !isValid(assertion, found.passkey, found.user)) throw problem.passkey_refused();
    if (!found.user.active) throw problem.account_inactive();
    const session = await startSession(services, call, found.user, async () => {
      await passkeyChallenges.use(assertion.challenge, { purpose: 'sign-in', userId: '' });
      if (!(await passkeys.recordUse(found.passkey.id, assertion, clock.now()))) throw problem.passkey_refused();
    });
    counted.succeed();
    return session;
  },
});

export const passkeySignInOperations = [startPasskeySignIn, signInWithPasskey];
