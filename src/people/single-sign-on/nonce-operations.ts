import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import { type Actor, isAdmin } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import type { OrganisationStore } from '../organisations/store.ts';
import { problem as peopleProblem } from '../problems.ts';
import { toCredentialVersion } from '../users/credential-version.ts';
import { rejectOutranking } from '../users/grant-check.ts';
import type { SignOnIdentity } from '../users/identity.ts';
import type { UserStore } from '../users/store.ts';
import { createNonce, type NonceServices, SignOnRequest, toIdentity } from './nonce.ts';
import { problem } from './problems.ts';
import { type GroupGrantServices, rejectGroupExcess } from './profiles/group-grant-check.ts';
import { looksUpAccounts } from './sign-on.ts';

export interface NonceOperationServices extends NonceServices, GroupGrantServices {
  organisations: OrganisationStore;
  users: UserStore;
  settings: Settings;
  vault: Vault;
}

const declared = { noun: 'single sign-on', body: SignOnRequest, returns: statusResponse } as const;
const createdMessage = 'SSO Nonce created';

/**
 * Privilege escalation check: the session of a nonce must not hold more than its creator, neither by the account with
 * the e-mail address, which only an administrator may act as, nor by groups. The address of an account is checked also
 * where none is looked up: audit records name it. Returns the id of the account to sign in to: one that gets the address
 * before the nonce is used was not checked.
 */
async function rejectEscalation(services: NonceOperationServices, actor: Actor, identity: SignOnIdentity) {
  const { users, groups, settings } = services;
  const [account] = await users.findByEmail(identity.email, actor.orgId);
  if (account && account.id !== actor.id && !isAdmin(actor)) throw problem.account_foreign();
  if (account) await rejectOutranking(groups, actor, account);
  const named = [...new Set(identity.groupIds)].map(id => ({ member: 'GroupID', id }));
  await rejectGroupExcess(services, actor, named, named.length === 0);
  return (looksUpAccounts(settings, identity) && account?.id) || '';
}

/** Creator of a nonce, as its account is now: a change of its credentials makes the nonce void. */
async function findCreator({ users, vault }: NonceOperationServices, { orgId, id, temporaryUser }: Actor) {
  const user = temporaryUser ? undefined : await users.get(orgId, id);
  if (!user) throw problem.account_required();
  return { id, name: user.email_address, version: toCredentialVersion(vault, user) };
}

export const createSignOnNonce = operation({
  ...declared,
  surface: 'dashboard',
  name: 'createSignOnNonce',
  method: 'POST',
  path: '/api/sso',
  about:
    'Creates a nonce that signs a user of the caller’s organisation on with GET /tap, once and within 60 seconds. The user gets no permission that the caller does not hold.',
  permission: 'any user',
  problems: [
    problem.disabled,
    problem.organisation_foreign,
    problem.user_not_allowed,
    problem.account_required,
    problem.account_foreign,
    problem.group_unknown,
    peopleProblem.user_outranks,
    peopleProblem.only_admin_grants,
    peopleProblem.grant_not_held,
    peopleProblem.group_owns_hidden_apis,
  ],
  async handle({ actor, body, audit }, services: NonceOperationServices) {
    audit(body.EmailAddress);
    const creator = await findCreator(services, actor);
    if (body.OrgID && body.OrgID !== actor.orgId) throw problem.organisation_foreign();
    const organisation = await services.organisations.get(actor.orgId);
    if (!organisation?.sso_enabled) throw problem.disabled();
    const identity = toIdentity(body);
    const accountId = await rejectEscalation(services, actor, identity);
    return toStatus(createdMessage, await createNonce(services, actor.orgId, { identity, accountId, creator }));
  },
});

export const adminCreateSignOnNonce = operation({
  ...declared,
  surface: 'admin',
  name: 'adminCreateSignOnNonce',
  method: 'POST',
  path: '/admin/sso',
  about: 'Creates a nonce that signs a user of an organisation on with GET /tap, once and within 60 seconds.',
  permission: 'secret',
  problems: [problem.organisation_unknown, problem.user_not_allowed],
  async handle({ body, audit }, services: NonceOperationServices) {
    const orgId = body.OrgID ?? '';
    if (!(await services.organisations.get(orgId))) throw problem.organisation_unknown({ detail: { id: orgId } });
    audit(body.EmailAddress, orgId);
    return toStatus(createdMessage, await createNonce(services, orgId, { identity: toIdentity(body) }));
  },
});

export const nonceOperations = [createSignOnNonce, adminCreateSignOnNonce];
