import { z } from 'zod';
import type { Vault } from '#base/vault.ts';
import { type RelyingParty, readRegistration, webauthnProblem } from '#base/webauthn.ts';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import { problem as peopleProblem } from '../problems.ts';
import { toCredentialVersion } from '../users/credential-version.ts';
import type { StoredUser } from '../users/schema.ts';
import {
  changeFactors,
  confirmation,
  type FactorOperationServices,
  factorConfirmationProblems,
  findCaller,
} from './factor-operations.ts';
import type { PasskeyChallenges } from './passkey-challenges.ts';
import {
  CreationOptions,
  fixedCreationOptions,
  Passkey,
  passkeyName,
  RegistrationCredential,
  toPasskey,
  toRegistrationResponse,
  toUserHandle,
} from './passkey-schema.ts';
import type { PasskeyStore } from './passkey-store.ts';
import { problem } from './problems.ts';
import { reauthenticate } from './second-factor.ts';

export interface PasskeyServices extends FactorOperationServices {
  passkeys: PasskeyStore;
  passkeyChallenges: PasskeyChallenges;
  relyingParty: RelyingParty | undefined;
  vault: Vault;
}

const declared = { surface: 'dashboard', noun: 'session', permission: 'any user' } as const;
const passkeyParams = z.object({ passkeyId: z.string() });
const relyingPartyName = 'Gatewright';

export function requireRelyingParty({ relyingParty }: Pick<PasskeyServices, 'relyingParty'>): RelyingParty {
  if (!relyingParty) throw problem.passkeys_unavailable();
  return relyingParty;
}

const toRegistration = ({ vault }: PasskeyServices, user: StoredUser) =>
  ({ purpose: 'registration', userId: user.id, credentialVersion: toCredentialVersion(vault, user) }) as const;

export const startPasskey = operation({
  ...declared,
  name: 'startPasskey',
  method: 'POST',
  path: '/api/session/passkeys/challenge',
  about: 'Returns the options with which a browser creates a passkey (WebAuthn), valid for five minutes.',
  // The body has a password, which no policy agent gets.
  ignoresRules: true,
  body: confirmation,
  returns: z.object({ publicKey: CreationOptions }),
  problems: [problem.passkeys_unavailable, ...factorConfirmationProblems],
  async handle({ actor, body, address, audit }, services: PasskeyServices) {
    audit(actor.id);
    const { id } = requireRelyingParty(services);
    const user = await findCaller(services, actor);
    await reauthenticate(services, user, body, address);
    const known = await services.passkeys.list(user.id);
    const publicKey = {
      ...fixedCreationOptions,
      pubKeyCredParams: [...fixedCreationOptions.pubKeyCredParams],
      rp: { id, name: relyingPartyName },
      user: {
        id: toUserHandle(user.id),
        name: user.email_address,
        displayName: `${user.first_name} ${user.last_name}`.trim(),
      },
      challenge: services.passkeyChallenges.create(toRegistration(services, user)),
      excludeCredentials: known.map(it => ({
        type: 'public-key' as const,
        id: it.credentialId,
        transports: [...it.transports],
      })),
    };
    return { publicKey };
  },
});

export const addPasskey = operation({
  ...declared,
  name: 'addPasskey',
  method: 'POST',
  path: '/api/session/passkeys',
  about: 'Adds the passkey that a browser created for the caller.',
  body: z.object({ name: passkeyName, credential: RegistrationCredential }),
  returns: Passkey,
  problems: [
    problem.passkeys_unavailable,
    webauthnProblem.malformed,
    webauthnProblem.rejected,
    problem.challenge_invalid,
    problem.passkey_exists,
    problem.too_many_passkeys,
    peopleProblem.user_not_found,
  ],
  async handle({ actor, body: { name, credential }, audit }, services: PasskeyServices) {
    audit(actor.id);
    const { passkeys, passkeyChallenges, clock } = services;
    const registration = readRegistration(toRegistrationResponse(credential), requireRelyingParty(services));
    const { challenge, credentialId, key, signCount, isBackedUp } = registration;
    const transports = credential.response.transports ?? [];
    const owner = await findCaller(services, actor);
    const added = await changeFactors(services, actor, async user => {
      await passkeyChallenges.use(challenge, toRegistration(services, user));
      const passkey = { credentialId, key, signCount, isBackedUp, transports, name };
      return passkeys.insert({ orgId: user.org_id, userId: user.id, ...passkey }, clock.now());
    });
    services.accountMails.notify(owner, 'passkey-added');
    return toPasskey(added);
  },
});

export const listPasskeys = operation({
  ...declared,
  name: 'listPasskeys',
  method: 'GET',
  path: '/api/session/passkeys',
  about: 'Lists the passkeys of the caller, oldest first.',
  returns: z.object({ passkeys: z.array(Passkey) }),
  async handle({ actor }, { passkeys }: PasskeyServices) {
    return { passkeys: (await passkeys.list(actor.id)).map(toPasskey) };
  },
});

export const renamePasskey = operation({
  ...declared,
  name: 'renamePasskey',
  method: 'PUT',
  path: '/api/session/passkeys/{passkeyId}',
  about: 'Renames a passkey of the caller.',
  params: passkeyParams,
  body: z.object({ name: passkeyName }),
  returns: Passkey,
  problems: [problem.passkey_not_found],
  async handle({ actor, params: { passkeyId }, body: { name }, audit }, { passkeys }: PasskeyServices) {
    audit(passkeyId);
    const renamed = await passkeys.rename(actor.id, passkeyId, name);
    if (!renamed) throw problem.passkey_not_found();
    return toPasskey(renamed);
  },
});

export const removePasskey = operation({
  ...declared,
  name: 'removePasskey',
  method: 'POST',
  path: '/api/session/passkeys/{passkeyId}/remove',
  about: 'Removes a passkey of the caller, and ends the other sessions.',
  ignoresRules: true,
  params: passkeyParams,
  body: confirmation,
  returns: statusResponse,
  problems: [problem.passkey_not_found, ...factorConfirmationProblems],
  async handle({ actor, params: { passkeyId }, body, address, audit }, services: PasskeyServices) {
    audit(passkeyId);
    const user = await findCaller(services, actor);
    await reauthenticate(services, user, body, address);
    if (!(await services.passkeys.remove(user.id, passkeyId))) throw problem.passkey_not_found();
    await services.sessions.removeOthers(user.id, actor.sessionId);
    services.accountMails.notify(user, 'passkey-removed');
    return toStatus('Passkey removed');
  },
});

export const passkeyOperations = [startPasskey, addPasskey, listPasskeys, renamePasskey, removePasskey];
