import { z } from 'zod';
import type { Ownership } from '#apis/owners/store.ts';
import type { Clock } from '#base/clock.ts';
import { createSecretText } from '#base/ids.ts';
import { isObject } from '#base/json-tree.ts';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { pageQuery, statusResponse, toPageRequest, toStatus } from '#operations/shapes.ts';
import type { ApiSummary, FindApi } from '../api-lookup.ts';
import { grantsHidden, isVisible, refuseHiddenRights } from '../hidden-rights.ts';
import { readEmbeddedPolicies } from '../policies/apply-policies.ts';
import type { PolicyStore } from '../policies/store.ts';
import { problem as accessProblem } from '../problems.ts';
import { findClientPolicies } from './client-rights.ts';
import type { OauthCodeStore } from './code-store.ts';
import { authorizeOauthClient } from './consent.ts';
import { newClient } from './new-client.ts';
import { problem } from './problems.ts';
import { revokeClient } from './revocation.ts';
import { OauthClient, OauthClientWrite, toClientView, toListedClient } from './schema.ts';
import type { OauthClientStore } from './store.ts';
import type { OauthTokenStore } from './token-store.ts';

export interface OauthServices {
  oauthClients: OauthClientStore;
  oauthTokens: OauthTokenStore;
  oauthCodes: OauthCodeStore;
  policies: PolicyStore;
  findApi: FindApi;
  clock: Clock;
  settings: Settings;
  ownership: Ownership;
}

const apiParams = z.object({ apiId: z.string().describe('Public or database id of the API') });
const params = apiParams.extend({ clientId: z.string() });
const declared = { surface: 'dashboard', noun: 'oauth' } as const;

async function requireApi(
  { findApi }: Pick<OauthServices, 'findApi'>,
  id: string,
  orgId?: string,
): Promise<ApiSummary> {
  const api = await findApi(id, orgId);
  if (!api) throw accessProblem.api_not_found();
  return api;
}

export const listOauthClients = operation({
  ...declared,
  name: 'listOauthClients',
  method: 'GET',
  path: '/api/apis/oauth/{apiId}',
  about: 'Lists the OAuth clients of an API, newest first, without their secrets.',
  permission: 'oauth:read',
  params: apiParams,
  query: pageQuery,
  returns: z.object({ apps: z.array(OauthClient), pages: z.int() }),
  problems: [accessProblem.api_not_found],
  async handle({ actor, params: { apiId: id }, query }, services: OauthServices) {
    const { apiId } = await requireApi(services, id, actor.orgId);
    const page = toPageRequest(query.p, services.settings['management.page_size']);
    const { items, pages } = await services.oauthClients.page(apiId, page);
    return { apps: items.map(toListedClient), pages };
  },
});

export const createOauthClient = operation({
  ...declared,
  name: 'createOauthClient',
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  path: '/api/apis/oauth/{apiId}',
  about: 'Creates an OAuth client of an API. An omitted id or secret is generated.',
  permission: 'oauth:write',
  params: apiParams,
  body: OauthClientWrite,
  returns: OauthClient,
  problems: [accessProblem.api_not_found, problem.policy_unknown, problem.client_exists],
  async handle({ actor, params: { apiId: id }, body, audit }, services: OauthServices) {
    const { apiId } = await requireApi(services, id, actor.orgId);
    const policy = body.policy_id ? await services.policies.get(actor.orgId, body.policy_id) : undefined;
    const hidden = await services.ownership.findHidden(actor);
    if (body.policy_id && !(policy && isVisible(policy, hidden)))
      throw problem.policy_unknown({ detail: { id: body.policy_id } });
    const embedded = readEmbeddedPolicies(body).filter(isObject);
    await refuseHiddenRights(services, actor, ...(policy ? [policy] : []), ...embedded);
    const client = newClient(body, apiId, actor.orgId, services.clock.now());
    audit(client.client_id);
    await services.oauthClients.insert(client);
    // Revoke tokens of an earlier client with this id: they must not become valid again.
    await revokeClient(services, apiId, client.client_id);
    return toClientView(client);
  },
});

export const getOauthClient = operation({
  ...declared,
  name: 'getOauthClient',
  method: 'GET',
  path: '/api/apis/oauth/{apiId}/{clientId}',
  about: 'Returns an OAuth client with its secret, which is empty if its policy grants APIs of others.',
  permission: 'oauth:read',
  params,
  returns: OauthClient,
  problems: [accessProblem.api_not_found, problem.client_not_found],
  async handle({ actor, params: { apiId: id, clientId } }, services: OauthServices) {
    const { apiId } = await requireApi(services, id, actor.orgId);
    const client = await services.oauthClients.get(apiId, clientId);
    if (!client) throw problem.client_not_found();
    const hidden = await services.ownership.findHidden(actor);
    const granted = await findClientPolicies(services, client);
    return granted.some(it => grantsHidden(it, hidden)) ? toListedClient(client) : toClientView(client);
  },
});

export const deleteOauthClient = operation({
  ...declared,
  name: 'deleteOauthClient',
  method: 'DELETE',
  changesTraffic: true,
  path: '/api/apis/oauth/{apiId}/{clientId}',
  about: 'Deletes an OAuth client. Its tokens are refused from then on.',
  permission: 'oauth:write',
  params,
  returns: statusResponse,
  problems: [accessProblem.api_not_found, problem.client_not_found],
  async handle({ actor, params: { apiId: id, clientId }, audit }, services: OauthServices) {
    audit(clientId);
    const { apiId } = await requireApi(services, id, actor.orgId);
    const client = await services.oauthClients.get(apiId, clientId);
    if (client) await refuseHiddenRights(services, actor, ...(await findClientPolicies(services, client)));
    if (!(await services.oauthClients.remove(apiId, clientId))) throw problem.client_not_found();
    return toStatus('OAuth client deleted successfully');
  },
});

/** Page size; `p` below 1 lists up to `maxListedTokens`. */
const tokenPageSize = 100;
const maxListedTokens = 10_000;

export const listOauthTokens = operation({
  ...declared,
  name: 'listOauthTokens',
  method: 'GET',
  path: '/api/apis/oauth/{apiId}/{clientId}/tokens',
  about:
    'Lists the valid access tokens of a client, newest first. Where only hashes of keys are stored, ' +
    'the hashes of the tokens.',
  permission: 'oauth:read',
  params,
  query: pageQuery.extend({ p: pageQuery.shape.p.default(-1) }),
  returns: z.array(z.object({ code: z.string(), expires: z.int().describe('Unix seconds') })),
  problems: [accessProblem.api_not_found, problem.client_not_found],
  async handle({ actor, params: { apiId: id, clientId }, query: { p } }, services: OauthServices) {
    const { apiId } = await requireApi(services, id, actor.orgId);
    if (!(await services.oauthClients.get(apiId, clientId))) throw problem.client_not_found();
    const page = p < 1 ? toPageRequest(1, maxListedTokens) : toPageRequest(p, tokenPageSize);
    return services.oauthTokens.listValid(apiId, clientId, services.clock.now(), page);
  },
});

export const rotateOauthSecret = operation({
  surface: 'gateway',
  noun: 'oauth',
  name: 'rotateOauthSecret',
  method: 'PUT',
  changesTraffic: true,
  path: '/gw/oauth/clients/{apiID}/{keyName}/rotate',
  about: 'Rotates the secret of an OAuth client; the old one is refused at once, existing tokens stay valid.',
  permission: 'secret',
  params: z.object({
    apiID: z.string().describe('Public or database id of the API'),
    keyName: z.string().describe('client_id of the OAuth client'),
  }),
  returns: OauthClient,
  problems: [accessProblem.api_not_found, problem.client_not_found],
  async handle({ params: { apiID, keyName }, audit }, services: OauthServices) {
    audit(keyName);
    const { apiId, orgId } = await requireApi(services, apiID);
    audit(keyName, orgId);
    const client = await services.oauthClients.rotate(apiId, keyName, createSecretText());
    if (!client) throw problem.client_not_found();
    return toClientView(client);
  },
});

export const oauthOperations = [
  listOauthClients,
  createOauthClient,
  getOauthClient,
  deleteOauthClient,
  listOauthTokens,
  authorizeOauthClient,
  rotateOauthSecret,
];
