import type { StoredOauthProvider } from '../oauth-providers/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present } from '../problems.ts';
import type { DiscoveredProvider, RegisteredClient } from './identity-provider.ts';
import { buildClientMetadata } from './metadata.ts';
import type { StoredOauthClient } from './schema.ts';
import { type ChangedRights, type ClientNeeds, type ClientRights, linkApis, loadClientNeeds } from './scopes.ts';

export type ClientServices = Pick<PortalServices, 'portal' | 'controlPlane' | 'identityProvider' | 'clock'>;

/** Settings with which a client is managed whose identity provider was deleted from the portal. */
const forgottenProvider: Pick<
  StoredOauthProvider,
  'Name' | 'Type' | 'WellKnownURL' | 'SSLInsecureSkipVerify' | 'RegistrationAccessToken'
> = {
  Name: 'of OAuth clients',
  Type: 'Other',
  WellKnownURL: '',
  SSLInsecureSkipVerify: false,
  RegistrationAccessToken: '',
};

async function openManager(client: StoredOauthClient, { portal, identityProvider }: ClientServices) {
  return identityProvider((await portal.oauthProviders.get(client.OauthProviderID)) ?? forgottenProvider);
}

async function buildMetadata(client: StoredOauthClient, needs: ClientNeeds, { portal }: ClientServices) {
  const provider = present(await portal.oauthProviders.get(client.OauthProviderID), 'OAuth provider', 'unknown');
  const type = present(await portal.clientTypes.get(client.ClientTypeID), 'Client type', 'unknown');
  const app = present(await portal.apps.get(client.AppID), 'App', 'unknown');
  const { PortalRedirectURI: own } = client;
  const redirectUris = [...needs.redirectUris, ...(own ? [own] : [])];
  return { provider, metadata: buildClientMetadata(provider, { name: app.Name, type, ...needs, redirectUris }) };
}

/** Stores the response of a registration or change; a secret or token that it omits stays. */
export async function saveRegistration(
  { ID }: StoredOauthClient,
  registered: RegisteredClient,
  { scopes, redirectUris }: ClientNeeds,
  { portal, clock }: ClientServices,
  found?: DiscoveredProvider,
): Promise<StoredOauthClient> {
  const changed = await portal.registeredClients.change(ID, it => ({
    ...it,
    ClientID: registered.client_id,
    ClientSecret: registered.client_secret ?? it.ClientSecret,
    RegistrationURI: registered.registration_client_uri ?? it.RegistrationURI,
    RegistrationToken: registered.registration_access_token ?? it.RegistrationToken,
    Response: registered.text,
    Scope: scopes.join(' '),
    RedirectURIs: [...redirectUris],
    GrantType: registered.grant_types?.join(',') ?? it.GrantType,
    ResponseType: registered.response_types?.join(',') ?? it.ResponseType,
    AuthMethod: registered.token_endpoint_auth_method ?? it.AuthMethod,
    JwksURI: found?.jwks_uri ?? it.JwksURI,
    TokenEndpoint: found?.token_endpoint ?? it.TokenEndpoint,
    AuthorizationEndpoint: found?.authorization_endpoint ?? it.AuthorizationEndpoint,
    UpdatedAt: clock.now(),
  }));
  return present(changed, 'OAuth client', 'unknown');
}

/**
 * Registers a client, or changes it to the scopes of all that uses it and of these rights; then its APIs accept its
 * tokens. Idempotent but for the registration itself.
 */
export async function grantToClient(
  clientId: number,
  changed: ChangedRights & { readonly rights: ClientRights },
  services: ClientServices,
): Promise<void> {
  const client = present(await services.portal.registeredClients.get(clientId), 'OAuth client', 'unknown');
  const needs = (await loadClientNeeds(client, services, changed))!;
  const { provider, metadata } = await buildMetadata(client, needs, services);
  const remote = services.identityProvider(provider);
  const found = await remote.discover();
  const isNew = client.ClientID === '';
  const registered = isNew ? await remote.register(found, metadata) : await remote.update(client, metadata);
  await saveRegistration(client, registered, needs, services, found);
  await linkApis(changed.rights, found, services);
}

/**
 * Brings a client at its identity provider to what the records say, for which `changed` may say otherwise: to the scopes
 * of all that uses it, or deleted where nothing does. Idempotent.
 */
export async function reconcileClient(
  clientId: number,
  services: ClientServices,
  changed?: ChangedRights,
): Promise<void> {
  const { portal } = services;
  const client = await portal.registeredClients.get(clientId);
  if (!client) return;
  const needs = await loadClientNeeds(client, services, changed);
  if (!needs) {
    if (client.ClientID !== '') await (await openManager(client, services)).remove(client);
    await portal.registeredClients.remove(client.ID);
    return;
  }
  const { provider, metadata } = await buildMetadata(client, needs, services);
  const registered = await services.identityProvider(provider).update(client, metadata);
  await saveRegistration(client, registered, needs, services);
}
