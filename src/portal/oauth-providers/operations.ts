import { z } from 'zod';
import { createSortableId } from '#base/ids.ts';
import { operation } from '#operations/operation.ts';
import { partnersOf } from '../join-table-store.ts';
import { testConnection } from '../oauth-clients/connection-test.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import type { TaskServices } from '../provider-tasks/perform.ts';
import {
  lenientBool,
  okMessage,
  okMessageResponse,
  okResponse,
  okStatus,
  portalId,
  portalPageQuery,
} from '../shapes.ts';
import { endClientTypes } from './forced-removal.ts';
import {
  OauthProviderChange,
  OauthProviderWrite,
  PortalOauthProvider,
  PortalOauthProviderView,
  type StoredOauthProvider,
  toClientTypeView,
  toOauthProviderRow,
} from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'>;

const declared = { surface: 'portal', noun: 'oauth-providers', permission: 'secret' } as const;
const params = z.object({ provider_id: portalId });
export const forceDeletion = z.object({
  force: lenientBool.optional().describe('Also while products or OAuth clients use it: these end'),
});

async function loadProviderView(provider: StoredOauthProvider, { portal }: Services) {
  const types = await portal.clientTypes.ofProvider(provider.ID);
  return { ...toOauthProviderRow(provider), ClientTypes: types.map(toClientTypeView) };
}

/**
 * Removes client types, inside a transaction: from products too with `force`, which is required while products or OAuth
 * clients have one.
 */
export async function removeClientTypes(
  ids: readonly number[],
  { portal }: Pick<PortalServices, 'portal'>,
  force = false,
): Promise<void> {
  const products = await portal.clientTypes.products.rightOf(ids);
  const used = [...new Set(ids.flatMap(id => partnersOf(products, id)))];
  let count = used.length;
  for (const id of ids) count += (await portal.registeredClients.ofType(id)).length;
  if (count > 0 && !force) throw problem.client_type_in_use({ detail: { count } });
  for (const id of ids) {
    await portal.clientTypes.products.setRightOf(id, []);
    await portal.clientTypes.remove(id);
  }
}

/** A token must not reach a host that its owner did not name together with it. */
function applyChange(before: StoredOauthProvider, body: OauthProviderChange, nowMs: number): StoredOauthProvider {
  const WellKnownURL = body.WellKnownURL ?? before.WellKnownURL;
  const isOtherHost = new URL(WellKnownURL).origin !== new URL(before.WellKnownURL).origin;
  if (isOtherHost && before.RegistrationAccessToken && body.RegistrationAccessToken === undefined)
    throw problem.registration_token_required();
  return {
    ...before,
    Name: body.Name ?? before.Name,
    Type: body.Type ?? before.Type,
    WellKnownURL,
    SSLInsecureSkipVerify: body.SSLInsecureSkipVerify ?? before.SSLInsecureSkipVerify,
    RegistrationAccessToken: body.RegistrationAccessToken ?? before.RegistrationAccessToken,
    UpdatedAt: nowMs,
  };
}

export const listPortalOauthProviders = operation({
  ...declared,
  name: 'listPortalOauthProviders',
  method: 'GET',
  path: '/portal-api/oauth-providers',
  about: 'Lists the OAuth providers, newest first. Registration access tokens are never returned.',
  query: portalPageQuery,
  returns: z.array(PortalOauthProvider),
  async handle({ query }, { portal }: Services) {
    return (await portal.oauthProviders.page(query)).map(toOauthProviderRow);
  },
});

export const createPortalOauthProvider = operation({
  ...declared,
  name: 'createPortalOauthProvider',
  method: 'POST',
  path: '/portal-api/oauth-providers',
  about: 'Creates an OAuth provider, which has client types as templates of the clients of developers.',
  body: OauthProviderWrite,
  example: { Name: 'Main', Type: 'Keycloak', WellKnownURL: 'https://idp.example/.well-known/openid-configuration' },
  returns: PortalOauthProvider,
  problems: [problem.cid_taken],
  async handle({ body, audit }, { portal, clock }: Services) {
    const now = clock.now();
    const provider = await portal.oauthProviders.insert({
      CID: body.CID ?? createSortableId(now),
      Name: body.Name,
      Type: body.Type,
      WellKnownURL: body.WellKnownURL,
      SSLInsecureSkipVerify: body.SSLInsecureSkipVerify ?? false,
      RegistrationAccessToken: body.RegistrationAccessToken ?? '',
      CreatedAt: now,
      UpdatedAt: now,
    });
    audit(String(provider.ID));
    return toOauthProviderRow(provider);
  },
});

export const getPortalOauthProvider = operation({
  ...declared,
  name: 'getPortalOauthProvider',
  method: 'GET',
  path: '/portal-api/oauth-providers/{provider_id}',
  about: 'Returns an OAuth provider with its client types.',
  params,
  returns: PortalOauthProviderView,
  problems: [problem.not_found],
  async handle({ params: { provider_id } }, services: Services) {
    return loadProviderView(present(await services.portal.oauthProviders.get(provider_id), 'OAuth provider'), services);
  },
});

export const updatePortalOauthProvider = operation({
  ...declared,
  name: 'updatePortalOauthProvider',
  method: 'PUT',
  path: '/portal-api/oauth-providers/{provider_id}',
  about: 'Updates an OAuth provider; omitted members do not change, an empty token is removed.',
  params,
  body: OauthProviderChange,
  example: { Name: 'Main', WellKnownURL: 'https://idp.example/.well-known/openid-configuration' },
  returns: PortalOauthProviderView,
  problems: [problem.not_found, problem.registration_token_required],
  async handle({ params: { provider_id }, body, audit }, services: Services) {
    const { portal, clock } = services;
    const { ID } = present(await portal.oauthProviders.get(provider_id), 'OAuth provider');
    audit(String(ID));
    const changed = await portal.oauthProviders.change(ID, it => applyChange(it, body, clock.now()));
    return loadProviderView(present(changed, 'OAuth provider'), services);
  },
});

export const deletePortalOauthProvider = operation({
  ...declared,
  name: 'deletePortalOauthProvider',
  method: 'DELETE',
  path: '/portal-api/oauth-providers/{provider_id}',
  about:
    'Deletes an OAuth provider with its client types. With force, their OAuth clients are deleted and access requests rejected.',
  params,
  query: forceDeletion,
  returns: okResponse,
  problems: [problem.not_found, problem.client_type_in_use],
  async handle({ params: { provider_id }, query, audit }, services: TaskServices) {
    const { portal, records } = services;
    const { ID } = present(await portal.oauthProviders.get(provider_id), 'OAuth provider');
    audit(String(ID));
    const types = (await portal.clientTypes.ofProvider(ID)).map(type => type.ID);
    if (query.force) await endClientTypes(types, services);
    await records.write(async () => {
      await portal.oauthProviders.change(ID, it => it);
      const current = (await portal.clientTypes.ofProvider(ID)).map(type => type.ID);
      await removeClientTypes(current, services, query.force);
      await portal.oauthProviders.remove(ID);
    });
    return okStatus;
  },
});

export const testPortalOauthProvider = operation({
  ...declared,
  name: 'testPortalOauthProvider',
  method: 'POST',
  path: '/portal-api/oauth-providers/{provider_id}/ping',
  about:
    'Tests an OAuth provider: reads its discovery document, registers a client that can do nothing, and deletes it.',
  params,
  returns: okMessageResponse.extend({
    Issuer: z.string(),
    RegistrationEndpoint: z.string(),
    TokenEndpoint: z.string(),
    AuthorizationEndpoint: z.string(),
    JWKSURI: z.string(),
    ScopesSupported: z.array(z.string()),
  }),
  problems: [problem.unknown, problem.provider_unavailable, problem.provider_refused],
  async handle({ params: { provider_id }, audit }, services: TaskServices) {
    const provider = present(await services.portal.oauthProviders.get(provider_id), 'OAuth provider', 'unknown');
    audit(String(provider.ID));
    const found = await testConnection(provider, services);
    return {
      ...okMessage('Ping'),
      Issuer: found.issuer,
      RegistrationEndpoint: found.registration_endpoint ?? '',
      TokenEndpoint: found.token_endpoint ?? '',
      AuthorizationEndpoint: found.authorization_endpoint ?? '',
      JWKSURI: found.jwks_uri,
      ScopesSupported: found.scopes_supported ?? [],
    };
  },
});

export const oauthProviderOperations = [
  listPortalOauthProviders,
  createPortalOauthProvider,
  getPortalOauthProvider,
  updatePortalOauthProvider,
  deletePortalOauthProvider,
  testPortalOauthProvider,
];
