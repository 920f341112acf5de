import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { modifiedResponse, toModified } from '#operations/shapes.ts';
import type { Records } from '#storage/records.ts';
import type { ApiSummary, FindApis } from '../api-lookup.ts';
import { findPolicyInAnyOrganisation } from '../policies/find-policy.ts';
import { rightsOf } from '../policies/schema.ts';
import { problem as accessProblem } from '../problems.ts';
import type { OauthCodeStore } from './code-store.ts';
import { newClient } from './new-client.ts';
import type { OauthServices } from './operations.ts';
import { problem } from './problems.ts';
import { revokeClient } from './revocation.ts';
import {
  OauthClient,
  OauthClientOfApi,
  OauthClientWrite,
  type StoredClient,
  toClientView,
  toListedClient,
} from './schema.ts';
import type { OauthTokenStore } from './token-store.ts';

/** OAuth clients of the gateway API: authenticated by the gateway secret, across organisations. */
export interface GatewayOauthServices extends OauthServices {
  records: Records;
  oauthTokens: OauthTokenStore;
  oauthCodes: OauthCodeStore;
  findApis: FindApis;
  defaultOrgId: () => Promise<string>;
}

const declared = { surface: 'gateway', noun: 'oauth', permission: 'secret' } as const;
const apiParams = z.object({ apiID: z.string().describe('Public or database id of the API') });
const params = apiParams.extend({ clientID: z.string().describe('client_id of the OAuth client') });

/** Auth methods that accept tokens of OAuth clients. */
const acceptsTokens = ({ authTypes }: ApiSummary) => authTypes.includes('oauth') || authTypes.includes('jwt');

/** The API in `api_id`, or every API of the policy that accepts tokens. */
async function findClientApis(
  services: GatewayOauthServices,
  { api_id, policy_id }: OauthClientWrite,
): Promise<ApiSummary[]> {
  if (typeof api_id === 'string' && api_id !== '') {
    const api = await services.findApi(api_id);
    if (!api) throw problem.api_unknown();
    if (!acceptsTokens(api)) throw problem.api_without_tokens();
    if (policy_id && !(await services.policies.get(api.orgId, policy_id))) throw problem.policy_missing();
    return [api];
  }
  if (!policy_id) throw problem.api_missing();
  const policy = await findPolicyInAnyOrganisation(services, policy_id);
  if (!policy) throw problem.policy_missing();
  const granted = await services.findApis(policy.org_id, Object.keys(rightsOf(policy)));
  const apis = [...granted.values()].filter(acceptsTokens);
  if (apis.length === 0) throw problem.api_missing();
  return apis;
}

export const createGatewayOauthClient = operation({
  ...declared,
  name: 'createGatewayOauthClient',
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  path: '/gw/oauth/clients/create',
  about: 'Creates an OAuth client of the API in api_id, or of every OAuth2 and JWT API that policy_id grants.',
  body: OauthClientOfApi,
  returns: OauthClient,
  problems: [
    problem.api_unknown,
    problem.api_without_tokens,
    problem.api_missing,
    problem.policy_missing,
    problem.client_exists,
  ],
  async handle({ body, audit }, services: GatewayOauthServices) {
    const [first, ...more] = (await findClientApis(services, body)) as [ApiSummary, ...ApiSummary[]];
    const nowMs = services.clock.now();
    const client = newClient(body, first.apiId, first.orgId, nowMs);
    const { client_id, secret } = client;
    audit(client_id, first.orgId);
    const same = more.map(({ apiId, orgId }) => newClient({ ...body, client_id, secret }, apiId, orgId, nowMs));
    await services.oauthClients.insert(client, ...same);
    // Revoke tokens of an earlier client with this id: they must not become valid again.
    for (const { api_id } of [client, ...same]) await revokeClient(services, api_id, client_id);
    return toClientView(client);
  },
});

export const listGatewayOauthClients = operation({
  ...declared,
  name: 'listGatewayOauthClients',
  method: 'GET',
  path: '/gw/oauth/clients/{apiID}',
  about: 'Lists the OAuth clients of an API, newest first, without their secrets.',
  params: apiParams,
  returns: z.array(OauthClient),
  problems: [accessProblem.api_not_found],
  async handle({ params: { apiID } }, { findApi, oauthClients }: GatewayOauthServices) {
    const api = await findApi(apiID);
    if (!api) throw accessProblem.api_not_found();
    const { items } = await oauthClients.page(api.apiId, { page: -1, size: 0 });
    return items.map(toListedClient);
  },
});

/** Finds the client in the path; an unknown API has no clients. */
export async function requireClient(
  { findApi, oauthClients }: Pick<GatewayOauthServices, 'findApi' | 'oauthClients'>,
  { apiID, clientID }: z.output<typeof params>,
): Promise<StoredClient> {
  const api = await findApi(apiID);
  const client = api && (await oauthClients.get(api.apiId, clientID));
  if (!client) throw problem.client_not_found();
  return client;
}

export const getGatewayOauthClient = operation({
  ...declared,
  name: 'getGatewayOauthClient',
  method: 'GET',
  path: '/gw/oauth/clients/{apiID}/{clientID}',
  about: 'Returns an OAuth client with its secret.',
  params,
  returns: OauthClient,
  problems: [problem.client_not_found],
  handle: async ({ params: named }, services: GatewayOauthServices) =>
    toClientView(await requireClient(services, named)),
});

const changeable = ['redirect_uri', 'policy_id', 'meta_data', 'description', 'client_name'] as const;

/** The mutable members that were sent. */
const pickChanges = (sent: OauthClientWrite): Partial<StoredClient> =>
  Object.fromEntries(changeable.flatMap(name => (sent[name] === undefined ? [] : [[name, sent[name]]])));

export const updateGatewayOauthClient = operation({
  ...declared,
  name: 'updateGatewayOauthClient',
  method: 'PUT',
  changesTraffic: true,
  path: '/gw/oauth/clients/{apiID}/{clientID}',
  about:
    'Updates an OAuth client; omitted members, its id and its secret do not change. Another policy revokes its tokens.',
  params,
  body: OauthClientWrite,
  returns: OauthClient,
  problems: [
    accessProblem.api_not_found,
    problem.client_not_found,
    problem.policy_not_found,
    problem.policy_without_api,
  ],
  async handle({ params: { apiID, clientID }, body, audit }, services: GatewayOauthServices) {
    audit(clientID);
    const api = await services.findApi(apiID);
    if (!api) throw accessProblem.api_not_found();
    audit(clientID, api.orgId);
    if (body.policy_id) await refusePolicyWithoutApi(services, api, body.policy_id);
    const { apiId } = api;
    const changed = await services.records.write(async () => {
      let before = '';
      const next = await services.oauthClients.change(apiId, clientID, client => {
        before = client.policy_id;
        return { ...client, ...pickChanges(body) };
      });
      if (next && next.policy_id !== before) await revokeClient(services, apiId, clientID);
      return next;
    });
    if (!changed) throw problem.client_not_found();
    return toClientView(changed);
  },
});

/** Refuses a policy that does not grant the client's API: its tokens would be useless. */
async function refusePolicyWithoutApi(
  { policies }: GatewayOauthServices,
  { apiId, orgId }: ApiSummary,
  id: string,
): Promise<void> {
  const policy = await policies.get(orgId, id);
  if (!policy) throw problem.policy_not_found();
  if (!Object.hasOwn(rightsOf(policy), apiId)) throw problem.policy_without_api();
}

export const deleteGatewayOauthClient = operation({
  ...declared,
  name: 'deleteGatewayOauthClient',
  method: 'DELETE',
  changesTraffic: true,
  path: '/gw/oauth/clients/{apiID}/{clientID}',
  about: 'Deletes an OAuth client and its tokens.',
  params,
  returns: modifiedResponse,
  problems: [problem.client_not_found],
  async handle({ params: named, audit }, services: GatewayOauthServices) {
    audit(named.clientID);
    const { api_id, client_id, org_id } = await requireClient(services, named);
    audit(client_id, org_id);
    const removed = await services.records.write(async () => {
      await revokeClient(services, api_id, client_id);
      return services.oauthClients.remove(api_id, client_id);
    });
    if (!removed) throw problem.client_not_found();
    return toModified(client_id, 'deleted');
  },
});

export const listGatewayOauthClientApis = operation({
  ...declared,
  name: 'listGatewayOauthClientApis',
  method: 'GET',
  path: '/gw/oauth/clients/apis/{clientID}',
  about: 'Lists the ids of the APIs of an OAuth client.',
  params: z.object({ clientID: params.shape.clientID }),
  query: z.object({ orgID: z.string().min(1, 'is required').describe('Organisation of the client') }),
  returns: z.array(z.string()),
  async handle({ params: { clientID }, query: { orgID } }, { oauthClients }: GatewayOauthServices) {
    return (await oauthClients.findByClientId(clientID, orgID)).map(client => client.api_id);
  },
});

export const gatewayOauthOperations = [
  createGatewayOauthClient,
  listGatewayOauthClients,
  getGatewayOauthClient,
  updateGatewayOauthClient,
  deleteGatewayOauthClient,
  listGatewayOauthClientApis,
];
