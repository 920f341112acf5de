import type { StoredClient } from '#access/oauth/schema.ts';
import type { OauthClientStore } from '#access/oauth/store.ts';
import { createOauthError, isOauthError, type OauthError } from './responses.ts';
import type { Parameters } from './schema.ts';

/** Client authentication and redirect URIs. */

/** Exact match with a registered URI: a token sent anywhere else is stolen (RFC 9700, section 2.1). */
export function resolveRedirectUri(client: StoredClient, requestedUri: string): string | OauthError {
  const registered = client.redirect_uri
    .split(',')
    .map(uri => uri.trim())
    .filter(Boolean);
  if (registered.length === 0) return createOauthError('unauthorized_client', 'The client has no redirect_uri');
  if (requestedUri === '')
    return registered.length === 1 ? registered[0]! : createOauthError('invalid_request', 'redirect_uri is required');
  return registered.includes(requestedUri)
    ? requestedUri
    : createOauthError('invalid_request', 'redirect_uri is not registered for the client');
}

/** Adds parameters to a URI, as query or as fragment. */
export function appendParameters(
  uri: string,
  parameters: Readonly<Record<string, string>>,
  asFragment: boolean,
): string {
  const text = new URLSearchParams(parameters).toString();
  if (asFragment) return `${uri}#${text}`;
  return `${uri}${uri.includes('?') ? '&' : '?'}${text}`;
}

export interface BasicCredentials {
  readonly id: string;
  readonly secret: string;
}

const basic = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i;

export function parseBasicHeader(authorization: string): BasicCredentials | undefined {
  const [, encoded] = basic.exec(authorization) ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { id: text.slice(0, colon), secret: text.slice(colon + 1) };
}

/** Form-decoded credentials (RFC 6749, section 2.3.1): some clients encode them, most do not. */
function decodeFormEncoded({ id, secret }: BasicCredentials): BasicCredentials | undefined {
  if (!/[%+]/.test(id + secret)) return undefined;
  try {
    const [first, second] = [id, secret].map(text => decodeURIComponent(text.replaceAll('+', ' ')));
    return { id: first!, secret: second! };
  } catch {
    // A plain percent sign: the credentials are not encoded.
    return undefined;
  }
}

type Clients = Pick<OauthClientStore, 'get' | 'clientSecretMatches'>;

/**
 * Client authentication (RFC 6749, section 2.3.1): HTTP Basic, or `client_id` and `client_secret` in the body, never both.
 * Unknown clients and wrong secrets are refused alike, after the same work.
 */
export async function authenticateClient(
  clients: Clients,
  apiId: string,
  authorization: string,
  { client_id: id = '', client_secret: secret }: Parameters,
): Promise<StoredClient | OauthError> {
  const basicCredentials = parseBasicHeader(authorization);
  if (basicCredentials && secret !== undefined)
    return createOauthError(
      'invalid_request',
      'The client must authenticate either with HTTP Basic or in the body, not both',
    );
  if (basicCredentials && id !== '' && id !== basicCredentials.id && id !== decodeFormEncoded(basicCredentials)?.id)
    return createOauthError('invalid_request', 'client_id differs from the client that authenticates');
  if (!basicCredentials && (secret === undefined || id === ''))
    return createOauthError(
      'invalid_request',
      'The client must authenticate with HTTP Basic, or with client_id and client_secret in the body',
    );
  const credentials = basicCredentials ?? { id, secret: secret! };
  const verified = await verifyClient(clients, apiId, credentials);
  const other = isOauthError(verified) && basicCredentials ? decodeFormEncoded(credentials) : undefined;
  const client = other ? await verifyClient(clients, apiId, other) : verified;
  if (isOauthError(client)) return client;
  return client.redirect_uri.trim() === ''
    ? createOauthError('unauthorized_client', 'The client has no redirect_uri')
    : client;
}

async function verifyClient(
  clients: Clients,
  apiId: string,
  { id, secret }: BasicCredentials,
): Promise<StoredClient | OauthError> {
  const right = await clients.clientSecretMatches(apiId, id, secret);
  const client = await clients.get(apiId, id);
  return client && right ? client : createOauthError('invalid_client');
}
