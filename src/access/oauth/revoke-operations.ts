import { z } from 'zod';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import type { OauthServices } from './operations.ts';
import { problem } from './problems.ts';
import { revokeClient, revokeToken } from './revocation.ts';
import type { StoredClient } from './schema.ts';

/**
 * Revocation by the id of a client alone, as clients of compatible installations call it. Several APIs may have a
 * client with this id: the operations apply to all that the caller may see.
 */
const declared = { surface: 'dashboard', noun: 'oauth', permission: 'oauth:write', changesTraffic: true } as const;
const params = z.object({ clientId: z.string() });

async function requireClients(
  { oauthClients, ownership }: OauthServices,
  actor: Actor,
  clientId: string,
): Promise<StoredClient[]> {
  const [clients, hidden] = [
    await oauthClients.findByClientId(clientId, actor.orgId),
    await ownership.findHidden(actor),
  ];
  const visible = clients.filter(({ api_id }) => !hidden.has(api_id));
  if (visible.length === 0) throw problem.client_not_found();
  return visible;
}

export const revokeTokenOfClient = operation({
  ...declared,
  name: 'revokeTokenOfClient',
  method: 'POST',
  path: '/api/apis/oauth/{clientId}/revoke',
  about:
    'Revokes one token of a client, whatever API it is for (RFC 7009): a refresh token with all tokens of its grant. An unknown token is no error.',
  params,
  body: z.object({
    token: z.string().min(1).max(8192),
    token_type_hint: z
      .enum(['', 'access_token', 'refresh_token'])
      .default('')
      .describe('Kind of the token; empty tries both'),
  }),
  returns: statusResponse,
  problems: [problem.client_not_found],
  async handle(
    { actor, params: { clientId }, body: { token, token_type_hint: hint }, audit },
    services: OauthServices,
  ) {
    audit(clientId);
    for (const { api_id } of await requireClients(services, actor, clientId))
      await revokeToken(services, api_id, { token, hint, clientId });
    return toStatus('token revoked successfully');
  },
});

export const revokeTokensOfClient = operation({
  ...declared,
  name: 'revokeTokensOfClient',
  method: 'POST',
  path: '/api/apis/oauth/{clientId}/revoke_all',
  about: 'Revokes all tokens and pending authorization codes of a client whose secret is sent. The client stays.',
  params,
  body: z.object({ client_secret: z.string().min(1).max(1000) }),
  returns: statusResponse,
  problems: [problem.client_not_found, problem.secret_wrong],
  async handle({ actor, params: { clientId }, body: { client_secret: secret }, audit }, services: OauthServices) {
    audit(clientId);
    const apiIds: string[] = [];
    for (const { api_id } of await requireClients(services, actor, clientId))
      if (await services.oauthClients.clientSecretMatches(api_id, clientId, secret)) apiIds.push(api_id);
    if (apiIds.length === 0) throw problem.secret_wrong();
    for (const apiId of apiIds) await revokeClient(services, apiId, clientId);
    return toStatus('tokens revoked successfully');
  },
});

export const oauthRevokeOperations = [revokeTokenOfClient, revokeTokensOfClient];
