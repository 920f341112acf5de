import { Lru } from '#base/lru.ts';
import type { StoredOauthClient } from '../../oauth-clients/schema.ts';
import { present } from '../../problems.ts';
import type { SiteServices } from '../page.ts';

const maxTokens = 5000;
/** A token is used for a while and never at its end. */
const maxTokenTtlMs = 300_000;
const expiryMarginMs = 10_000;
const unknownTtlSeconds = 60;

interface HeldToken {
  readonly token: string;
  readonly untilMs: number;
}

const tokensOf = new WeakMap<SiteServices['portal'], Lru<string, HeldToken>>();

/** True for a client that gets tokens by itself; others need the browser of a user. */
export const canFetchToken = ({ GrantType, ClientSecret, TokenEndpoint }: StoredOauthClient): boolean =>
  GrantType.split(',').includes('client_credentials') && ClientSecret !== '' && TokenEndpoint !== '';

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
  const ttlMs = Math.min((fetched.expires_in ?? unknownTtlSeconds) * 1000 - expiryMarginMs, maxTokenTtlMs);
  if (ttlMs > 0) tokens.set(key, { token: fetched.access_token, untilMs: clock.now() + ttlMs });
  return fetched.access_token;
}
