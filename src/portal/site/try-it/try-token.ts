import { Lru } from '#base/lru.ts';
import type { ClientToken } from '../../oauth-clients/identity-provider.ts';
import type { StoredOauthClient } from '../../oauth-clients/schema.ts';
import { present } from '../../problems.ts';
import type { SiteServices } from '../page.ts';

/** Tokens of try-it: of a client itself in memory, of a user who signed in for the session, sealed in the database. */

const maxTokens = 5000;
/** A token is used for a while and never at its end. */
const maxTokenTtlMs = 300_000;
const expiryMarginMs = 10_000;
const unknownTtlSeconds = 60;
const maxUserTokenTtlMs = 3_600_000;
const userTokenPurpose = 'portal try-it token';

interface HeldToken {
  readonly token: string;
  readonly untilMs: number;
}

const tokensOf = new WeakMap<SiteServices['portal'], Lru<string, HeldToken>>();

const readTtlMs = ({ expires_in: seconds = unknownTtlSeconds }: ClientToken, maxMs: number) =>
  Math.min(seconds * 1000 - expiryMarginMs, maxMs);

/** True for a client that gets tokens by itself; others need the browser of a user. */
export const canFetchToken = ({ GrantType, ClientSecret, TokenEndpoint }: StoredOauthClient): boolean =>
  GrantType.split(',').includes('client_credentials') && ClientSecret !== '' && TokenEndpoint !== '';

/** True for a client whose users sign in: the portal can be its page, where the client can be changed for it. */
export const canSignInForToken = (client: StoredOauthClient): boolean =>
  !canFetchToken(client) &&
  client.GrantType.split(',').includes('authorization_code') &&
  client.TokenEndpoint !== '' &&
  client.AuthorizationEndpoint !== '' &&
  (client.RegistrationURI !== '' || Boolean(client.PortalRedirectURI));

/** Access token of a client with all of its scopes; one that is valid serves further calls too, for five minutes. */
export async function loadTryToken(client: StoredOauthClient, services: SiteServices): Promise<string> {
  const { portal, identityProvider, clock } = services;
  const tokens = tokensOf.get(portal) ?? new Lru<string, HeldToken>(maxTokens);
  tokensOf.set(portal, tokens);
  // A change of the client has other scopes.
  const key = `${client.ID} ${client.UpdatedAt}`;
  const held = tokens.get(key);
  if (held && held.untilMs > clock.now()) return held.token;
  const provider = present(await portal.oauthProviders.get(client.OauthProviderID), 'OAuth provider', 'unknown');
  const fetched = await identityProvider(provider).fetchToken(client, client.Scope);
  const ttlMs = readTtlMs(fetched, maxTokenTtlMs);
  if (ttlMs > 0) tokens.set(key, { token: fetched.access_token, untilMs: clock.now() + ttlMs });
  return fetched.access_token;
}

/** Owner of a user's token: one session of the site and the client with its present scopes. */
export const toTokenOwner = (sessionId: string, { ID, UpdatedAt }: StoredOauthClient): string =>
  `${sessionId} ${ID} ${UpdatedAt}`;

/** Keeps a token on the server until it expires; one that replaces it ends it. */
export async function saveUserToken(ownerId: string, token: ClientToken, services: SiteServices): Promise<void> {
  const { signInTokens, vault, clock } = services;
  const body = vault.seal(token.access_token, userTokenPurpose);
  const expiresAtMs = clock.now() + readTtlMs(token, maxUserTokenTtlMs);
  await signInTokens.insert({ purpose: 'portal-try', orgId: '', ownerId, expiresAtMs, body }, clock.now());
}

export async function findUserToken(ownerId: string, services: SiteServices): Promise<string | undefined> {
  const { signInTokens, vault, clock } = services;
  const found = await signInTokens.findOfOwner('portal-try', ownerId, clock.now());
  return found && vault.open(found.body, userTokenPurpose);
}
