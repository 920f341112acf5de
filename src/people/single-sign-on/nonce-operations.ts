import type { Settings } from '#base/settings.ts';
import { type Actor, isAdmin } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import type { OrganisationStore } from '../organisations/store.ts';
import { findExcess } from '../permissions/rank.ts';
import { problem as peopleProblem } from '../problems.ts';
import { type GrantCheckServices, rejectExcess, rejectOutranking } from '../users/grant-check.ts';
import type { UserStore } from '../users/store.ts';
import type { SignOnIdentity } from './identity.ts';
import { createNonce, type NonceServices, SignOnRequest, toIdentity } from './nonce.ts';
import { problem } from './problems.ts';
import { looksUpAccounts } from './sign-on.ts';
import type { TemporaryActors } from './temporary-actor.ts';

export interface NonceOperationServices extends NonceServices, GrantCheckServices {
  organisations: OrganisationStore;
  users: UserStore;
  temporaryActors: TemporaryActors;
  settings: Settings;
}

const declared = { noun: 'single sign-on', body: SignOnRequest, returns: statusResponse } as const;
const createdMessage = 'SSO Nonce created';

/**
 * Privilege escalation check: the session of a nonce must not hold more than its creator, neither by the account that
 * the e-mail address finds, which only an administrator may act as, nor by groups. Returns the id of that account: one
 * that gets the address before the nonce is used was not checked.
 */
async function rejectEscalation(services: NonceOperationServices, actor: Actor, identity: SignOnIdentity) {
  const { users, groups, temporaryActors, ownership, settings } = services;
  const found = looksUpAccounts(settings, identity) ? await users.findByEmail(identity.email, actor.orgId) : [];
  const [account] = found;
  if (account && account.id !== actor.id && !isAdmin(actor)) throw problem.account_foreign();
  if (account) await rejectOutranking(groups, actor, account);
  const { permissions, groupIds } = await temporaryActors.findPermissions(actor.orgId, identity.groupIds);
  rejectExcess(actor, findExcess(actor.permissions, permissions));
  for (const id of groupIds)
    if (await ownership.groupOwnsHiddenApis(actor, id)) throw peopleProblem.group_owns_hidden_apis();
  return account?.id ?? '';
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
    peopleProblem.user_outranks,
    peopleProblem.only_admin_grants,
    peopleProblem.grant_not_held,
    peopleProblem.group_owns_hidden_apis,
  ],
  async handle({ actor, body, audit }, services: NonceOperationServices) {
    audit(body.EmailAddress);
    if (actor.temporaryUser) throw problem.account_required();
    if (body.OrgID && body.OrgID !== actor.orgId) throw problem.organisation_foreign();
    const organisation = await services.organisations.get(actor.orgId);
    if (!organisation?.sso_enabled) throw problem.disabled();
    const identity = toIdentity(body);
    const accountId = await rejectEscalation(services, actor, identity);
    return toStatus(createdMessage, await createNonce(services, actor.orgId, identity, accountId));
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
    return toStatus(createdMessage, await createNonce(services, orgId, toIdentity(body)));
  },
});

export const nonceOperations = [createSignOnNonce, adminCreateSignOnNonce];
