import { z } from 'zod';
import { createSecretText } from '#base/ids.ts';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { pageNumber, statusResponse, toPageRequest, toStatus } from '#operations/shapes.ts';
import { refuseHiddenRights } from '../hidden-rights.ts';
import { problem as accessProblem } from '../problems.ts';
import { findClientPolicies } from './client-rights.ts';
import type { OauthServices } from './operations.ts';
import { problem } from './problems.ts';
import { revokeClient } from './revocation.ts';
import { OauthClient, type StoredClient, toClientView, toListedClient } from './schema.ts';

/** OAuth clients over all APIs of an organisation, and what revokes their credentials. */
const declared = { surface: 'dashboard', noun: 'oauth' } as const;
const params = z.object({
  apiId: z.string().describe('Public or database id of the API'),
  clientId: z.string(),
});
const maxIdLength = 256;

const ListedClient = OauthClient.extend({
  created_at: z.string(),
  tokens: z.int().describe('Valid access tokens'),
});

export const listOrganisationClients = operation({
  ...declared,
  name: 'listOrganisationClients',
  method: 'GET',
  path: '/api/oauth/clients',
  about: 'Lists the OAuth clients of all APIs that the caller may see, newest first, without their secrets.',
  permission: 'oauth:read',
  query: z.object({
    q: z.string().trim().max(200).optional().describe('Part of the client id, name or description, case-insensitive'),
    api_id: z.string().max(maxIdLength).optional().describe('Clients of this API'),
    policy_id: z.string().max(maxIdLength).optional().describe('Clients with this policy, by its public id'),
    p: pageNumber,
  }),
  returns: z.object({ apps: z.array(ListedClient), pages: z.int(), total: z.int() }),
  async handle({ actor, query: { q, api_id, policy_id, p } }, services: OauthServices) {
    const { oauthClients, oauthTokens, ownership, settings, clock, findApi } = services;
    const { apiIds: hiddenApis } = await ownership.findHidden(actor);
    // An unknown API has no clients.
    const apiId = api_id && ((await findApi(api_id, actor.orgId))?.apiId ?? api_id);
    const filter = { text: q, apiId: apiId || undefined, policyId: policy_id || undefined, hiddenApis };
    const request = toPageRequest(p, settings['management.page_size']);
    const { items, pages, total } = await oauthClients.pageOfOrganisation(actor.orgId, filter, request);
    const countTokens = await oauthTokens.countValidOf(items, clock.now());
    const apps = items.map(client => ({
      ...toListedClient(client),
      created_at: client.created_at,
      tokens: countTokens(client),
    }));
    return { apps, pages, total };
  },
});

async function requireClient(
  { findApi, oauthClients }: OauthServices,
  actor: Actor,
  { apiId: id, clientId }: z.output<typeof params>,
): Promise<StoredClient> {
  const api = await findApi(id, actor.orgId);
  if (!api) throw accessProblem.api_not_found();
  const client = await oauthClients.get(api.apiId, clientId);
  if (!client) throw problem.client_not_found();
  return client;
}

export const rotateClientSecret = operation({
  ...declared,
  name: 'rotateClientSecret',
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  path: '/api/apis/oauth/{apiId}/{clientId}/rotate',
  about: 'Replaces the secret of an OAuth client; the old one is refused at once, existing tokens stay valid.',
  permission: 'oauth:write',
  params,
  returns: OauthClient,
  problems: [accessProblem.api_not_found, problem.client_not_found],
  async handle({ actor, params: named, audit }, services: OauthServices) {
    audit(named.clientId);
    const found = await requireClient(services, actor, named);
    await refuseHiddenRights(services, actor, ...(await findClientPolicies(services, found)));
    const { api_id, client_id } = found;
    const client = await services.oauthClients.rotate(api_id, client_id, createSecretText());
    if (!client) throw problem.client_not_found();
    return toClientView(client);
  },
});

export const revokeClientTokens = operation({
  ...declared,
  name: 'revokeClientTokens',
  method: 'DELETE',
  changesTraffic: true,
  path: '/api/apis/oauth/{apiId}/{clientId}/tokens',
  about:
    'Revokes all access and refresh tokens of an OAuth client, and its pending authorization codes. The client itself stays.',
  permission: 'oauth:write',
  params,
  returns: statusResponse,
  problems: [accessProblem.api_not_found, problem.client_not_found],
  async handle({ actor, params: named, audit }, services: OauthServices) {
    audit(named.clientId);
    const { api_id, client_id } = await requireClient(services, actor, named);
    await revokeClient(services, api_id, client_id);
    return toStatus('Tokens revoked');
  },
});

export const revokeClientToken = operation({
  ...declared,
  name: 'revokeClientToken',
  method: 'POST',
  changesTraffic: true,
  path: '/api/apis/oauth/{apiId}/{clientId}/tokens/revoke',
  about:
    'Revokes an access token of an OAuth client, with all tokens of the same grant: its refresh token cannot replace it.',
  permission: 'oauth:write',
  params,
  body: z.object({
    token: z
      .string()
      .min(1)
      .max(8192)
      .describe('`code` of the list: the token, or its hash where only hashes are stored'),
  }),
  returns: statusResponse,
  problems: [accessProblem.api_not_found, problem.client_not_found, problem.token_not_found],
  async handle({ actor, params: named, body: { token }, audit }, services: OauthServices) {
    audit(named.clientId);
    const { api_id, client_id } = await requireClient(services, actor, named);
    const grantId = await services.oauthTokens.findListedGrant(api_id, client_id, token, services.clock.now());
    if (grantId === undefined) throw problem.token_not_found();
    await services.oauthTokens.removeGrant(grantId);
    return toStatus('Token revoked');
  },
});

export const oauthClientOperations = [
  listOrganisationClients,
  rotateClientSecret,
  revokeClientTokens,
  revokeClientToken,
];
