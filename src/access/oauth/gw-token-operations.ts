import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { messageResponse, modifiedResponse, toModified, toOkMessage, toPageRequest } from '#operations/shapes.ts';
import { type GatewayOauthServices, requireClient } from './gw-operations.ts';
import { problem } from './problems.ts';
import { revokeClient, revokeToken } from './revocation.ts';

const declared = { surface: 'gateway', noun: 'oauth', permission: 'secret' } as const;

const pageSize = 100;
/** Bound of a list without pages; longer lists need `page`. */
const maxListedTokens = 10_000;

const Token = z.object({ code: z.string(), expires: z.int().describe('Unix seconds') });
const TokenPage = z.object({
  Pagination: z.object({ page_num: z.int(), page_total: z.int(), page_size: z.int() }),
  Tokens: z.array(Token),
});

/** Invalid page numbers mean page 1. */
const parsePage = (text: string) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : 1);

export const listGatewayOauthTokens = operation({
  ...declared,
  name: 'listGatewayOauthTokens',
  method: 'GET',
  path: '/gw/oauth/clients/{apiID}/{clientID}/tokens',
  about: 'Lists the valid access tokens of a client, newest first; their hashes where only those are stored.',
  params: z.object({ apiID: z.string().describe('Public or database id of the API'), clientID: z.string() }),
  query: z.object({ page: z.string().optional().describe('Page number from 1; without it the list has no pages') }),
  returns: z.union([z.array(Token), TokenPage]),
  problems: [problem.client_not_found],
  async handle({ params, query: { page } }, services: GatewayOauthServices) {
    const { api_id, client_id } = await requireClient(services, params);
    const nowMs = services.clock.now();
    const listPage = (number: number, size: number) =>
      services.oauthTokens.listValid(api_id, client_id, nowMs, toPageRequest(number, size));
    if (page === undefined) return listPage(1, maxListedTokens);
    const page_num = parsePage(page);
    const total = await services.oauthTokens.countValid(api_id, client_id, nowMs);
    const page_total = Math.max(1, Math.ceil(total / pageSize));
    return { Pagination: { page_num, page_total, page_size: pageSize }, Tokens: await listPage(page_num, pageSize) };
  },
});

export const deleteGatewayRefreshToken = operation({
  ...declared,
  name: 'deleteGatewayRefreshToken',
  method: 'DELETE',
  changesTraffic: true,
  path: '/gw/oauth/refresh/{token}',
  about: 'Revokes a refresh token; access tokens obtained with it are valid until they expire.',
  params: z.object({ token: z.string() }),
  query: z.object({ api_id: z.string().default('').describe('Id of the API of the token') }),
  returns: modifiedResponse,
  problems: [
    problem.refresh_api_missing,
    problem.refresh_api_unknown,
    problem.refresh_not_enabled,
    problem.refresh_unknown,
  ],
  async handle({ params: { token }, query: { api_id }, audit }, services: GatewayOauthServices) {
    if (api_id === '') throw problem.refresh_api_missing();
    audit(api_id);
    const api = await services.findApi(api_id);
    if (!api) throw problem.refresh_api_unknown();
    audit(api.apiId, api.orgId);
    if (!api.authTypes.includes('oauth')) throw problem.refresh_not_enabled();
    if ((await services.oauthTokens.remove(api.apiId, 'refresh', token)) === 0) throw problem.refresh_unknown();
    return toModified(token, 'deleted');
  },
});

const formText = z.string().default('');
const owner = formText.describe('Organisation of the client, if several have one with this id');

export const revokeGatewayToken = operation({
  ...declared,
  name: 'revokeGatewayToken',
  method: 'POST',
  changesTraffic: true,
  path: '/gw/oauth/revoke',
  about: 'Revokes one token of a client.',
  accepts: 'form',
  body: z.object({
    token: formText,
    client_id: formText,
    org_id: owner,
    token_type_hint: formText.describe('access_token or refresh_token; defaults to both'),
  }),
  returns: messageResponse,
  problems: [problem.token_missing, problem.client_id_missing, problem.client_unknown],
  async handle(
    { body: { token, client_id: clientId, org_id, token_type_hint: hint }, audit },
    services: GatewayOauthServices,
  ) {
    if (token === '') throw problem.token_missing();
    if (clientId === '') throw problem.client_id_missing();
    audit(clientId);
    const clients = await services.oauthClients.findByClientId(clientId, org_id);
    if (clients.length === 0) throw problem.client_unknown();
    audit(clientId, clients[0]!.org_id);
    for (const { api_id } of clients) await revokeToken(services, api_id, { token, hint, clientId });
    return toOkMessage('token revoked successfully');
  },
});

export const revokeGatewayTokens = operation({
  ...declared,
  name: 'revokeGatewayTokens',
  method: 'POST',
  changesTraffic: true,
  path: '/gw/oauth/revoke_all',
  about: 'Revokes all tokens of a client, authenticated by its secret.',
  accepts: 'form',
  body: z.object({ client_id: formText, client_secret: formText, org_id: owner }),
  returns: messageResponse,
  problems: [
    problem.credential_id_missing,
    problem.credential_secret_missing,
    problem.credential_unknown,
    problem.credential_wrong,
  ],
  async handle({ body: { client_id: id, client_secret: secret, org_id }, audit }, services: GatewayOauthServices) {
    if (id === '') throw problem.credential_id_missing();
    if (secret === '') throw problem.credential_secret_missing();
    audit(id);
    const clients = await services.oauthClients.findByClientId(id, org_id);
    if (clients.length === 0) throw problem.credential_unknown();
    audit(id, clients[0]!.org_id);
    let isAuthenticated = false;
    for (const { api_id } of clients) {
      if (!(await services.oauthClients.clientSecretMatches(api_id, id, secret))) continue;
      isAuthenticated = true;
      await revokeClient(services, api_id, id);
    }
    if (!isAuthenticated) throw problem.credential_wrong();
    return toOkMessage('tokens revoked successfully');
  },
});

/** Removes expired tokens and codes, of every organisation, in batches. */
export async function purgeLapsedTokens({ oauthTokens, oauthCodes, clock }: GatewayOauthServices): Promise<void> {
  const nowMs = clock.now();
  while (await oauthTokens.sweep(nowMs));
  while (await oauthCodes.sweep(nowMs));
}

export const purgeGatewayTokens = operation({
  ...declared,
  name: 'purgeGatewayTokens',
  method: 'DELETE',
  changesTraffic: true,
  path: '/gw/oauth/tokens',
  about: 'Deletes expired tokens and codes. They are refused already.',
  query: z.object({ scope: z.string().default('').describe('lapsed') }),
  returns: messageResponse,
  problems: [problem.scope_missing, problem.scope_unknown],
  async handle({ query: { scope }, audit }, services: GatewayOauthServices) {
    if (scope === '') throw problem.scope_missing();
    if (scope !== 'lapsed') throw problem.scope_unknown();
    audit(scope);
    await purgeLapsedTokens(services);
    return toOkMessage('lapsed tokens purged');
  },
});

export const gatewayTokenOperations = [
  listGatewayOauthTokens,
  deleteGatewayRefreshToken,
  revokeGatewayToken,
  revokeGatewayTokens,
  purgeGatewayTokens,
];
