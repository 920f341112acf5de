import type { StoredClientType, StoredOauthProvider } from '../oauth-providers/schema.ts';

/** Client metadata of a registration (RFC 7591 section 2). */
export type ClientMetadata = Readonly<Record<string, unknown>>;

const maxRedirectUris = 20;
const maxUriChars = 2000;
const refusedSchemes = new Set(['javascript:', 'data:', 'vbscript:', 'file:', 'blob:']);

/** PKCE is a mode of the code grant (RFC 7636); the device grant has a URN (RFC 8628). */
const wireGrants: Readonly<Record<string, string>> = {
  pkce: 'authorization_code',
  device_code: 'urn:ietf:params:oauth:grant-type:device_code',
};
const redirectingGrants = new Set(['authorization_code', 'pkce', 'implicit']);
const redirectingOktaTypes = new Set(['web', 'native', 'browser']);

const splitList = (text: string): string[] => text.split(',').filter(Boolean);

/** Scopes of a product or plan, separated by commas or spaces. */
export const splitScopes = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter(Boolean))];

/** True where users are sent back to the client with a code or token. */
export const needsRedirect = ({ GrantType, OktaAppType }: Pick<StoredClientType, 'GrantType' | 'OktaAppType'>) =>
  OktaAppType ? redirectingOktaTypes.has(OktaAppType) : splitList(GrantType).some(it => redirectingGrants.has(it));

/** Redirect URIs of a comma-separated text, or why it has none. */
export function parseRedirectUris(text: string): { readonly uris: string[]; readonly fault?: string } {
  const uris = [...new Set(text.split(',').map(it => it.trim()))].filter(Boolean);
  if (uris.length > maxRedirectUris) return { uris: [], fault: `may have at most ${maxRedirectUris} addresses` };
  for (const uri of uris) {
    const url = uri.length <= maxUriChars ? URL.parse(uri) : null;
    if (!url || refusedSchemes.has(url.protocol)) return { uris: [], fault: `${uri.slice(0, 100)} is not an address` };
    if (uri.includes('#')) return { uris: [], fault: `${uri.slice(0, 100)} must not have a fragment (#)` };
  }
  return { uris };
}

interface ClientWish {
  readonly name: string;
  readonly type: StoredClientType;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
}

/** Okta derives grants and methods from the type of app; a client with PKCE and no method is public. */
export function buildClientMetadata(
  { Type }: Pick<StoredOauthProvider, 'Type'>,
  { name, type, redirectUris, scopes }: ClientWish,
): ClientMetadata {
  const redirects = needsRedirect(type) ? { redirect_uris: redirectUris } : {};
  const shared = { client_name: name, ...redirects, ...(scopes.length > 0 && { scope: scopes.join(' ') }) };
  if (Type === 'Okta') return { ...shared, application_type: type.OktaAppType };
  const grants = splitList(type.GrantType);
  const method = type.TokenEndpointAuthMethod ?? (grants.includes('pkce') ? 'none' : 'client_secret_basic');
  return {
    ...shared,
    grant_types: [...new Set(grants.map(it => wireGrants[it] ?? it))],
    response_types: splitList(type.ResponseTypes).filter(it => it !== 'none'),
    token_endpoint_auth_method: method,
  };
}

/** Client that tests the connection: it can do nothing. */
export const testClientMetadata = ({ Type }: Pick<StoredOauthProvider, 'Type'>): ClientMetadata => ({
  client_name: 'Connection test of the developer portal',
  ...(Type === 'Okta'
    ? { application_type: 'service' }
    : {
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
        token_endpoint_auth_method: 'client_secret_basic',
      }),
});
