import { z } from 'zod';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { OutboundResponse } from '#base/http-client/response.ts';
import { Problem } from '#base/problems.ts';
import { tryParseJson } from '#base/try-parse-json.ts';
import type { StoredOauthProvider } from '../oauth-providers/schema.ts';
import { problem } from '../problems.ts';
import type { ClientMetadata } from './metadata.ts';
import type { StoredOauthClient } from './schema.ts';

const callTimeoutMs = 15_000;
const maxResponseBytes = 256 * 1024;
const maxReasonLength = 300;

const endpoint = z
  .string()
  .max(2048)
  .refine(text => /^https?:$/.test(URL.parse(text)?.protocol ?? '') && !URL.parse(text)?.username);
const Discovery = z.object({
  issuer: z.string().max(2048),
  jwks_uri: endpoint,
  registration_endpoint: endpoint.optional(),
  token_endpoint: endpoint.optional(),
  authorization_endpoint: endpoint.optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
  scopes_supported: z.array(z.string().max(1000)).max(10_000).optional(),
});
export type DiscoveredProvider = z.output<typeof Discovery>;

const list = z.array(z.string().max(1000)).max(100).optional();
const Registered = z.object({
  client_id: z.string().min(1).max(2000),
  client_secret: z.string().max(8192).optional(),
  registration_client_uri: endpoint.optional(),
  registration_access_token: z.string().max(16_384).optional(),
  grant_types: list,
  response_types: list,
  redirect_uris: list,
  token_endpoint_auth_method: z.string().max(100).optional(),
});
export type RegisteredClient = z.output<typeof Registered> & { readonly text: string };

const Token = z.object({
  access_token: z.string().min(1).max(32_768),
  expires_in: z.number().min(0).max(1e9).optional(),
});
export type ClientToken = z.output<typeof Token>;

type Connection = Pick<
  StoredOauthProvider,
  'Name' | 'Type' | 'WellKnownURL' | 'SSLInsecureSkipVerify' | 'RegistrationAccessToken'
>;
type ManagedClient = Pick<
  StoredOauthClient,
  'AuthMethod' | 'ClientID' | 'ClientSecret' | 'RegistrationURI' | 'RegistrationToken' | 'TokenEndpoint'
>;

export type IdentityProviderOf = ReturnType<typeof createIdentityProviders>;

interface RedeemedCode {
  readonly code: string;
  readonly redirectUrl: string;
  /** PKCE code verifier (RFC 7636). */
  readonly verifier: string;
}

interface Call {
  readonly method?: string;
  readonly authorization?: string;
  readonly body?: ClientMetadata;
  readonly form?: Readonly<Record<string, string>>;
}

/** Okta has a scheme of its own. */
const toAuthorization = (type: StoredOauthProvider['Type'], secret: string) =>
  secret && `${type === 'Okta' ? 'SSWS' : 'Bearer'} ${secret}`;

/** Clients of identity providers: discovery, and registration and management of OAuth clients (RFC 7591, RFC 7592). */
export const createIdentityProviders = (outbound: OutboundClient) => (provider: Connection) => {
  const { Name: name, Type, WellKnownURL, RegistrationAccessToken: token } = provider;
  const unavailable = (reason: string, cause?: unknown) =>
    problem.provider_unavailable({ detail: { name, reason: reason.slice(0, maxReasonLength) }, cause });
  const send = createSender(outbound, provider, unavailable);
  const read = createReader(name, [token], unavailable);

  return {
    async discover(): Promise<DiscoveredProvider> {
      const { value } = read(Discovery, await send(WellKnownURL, {}));
      const isDowngraded = Object.values(value).some(it => typeof it === 'string' && it.startsWith('http:'));
      if (WellKnownURL.startsWith('https:') && isDowngraded)
        throw unavailable('its document has addresses without TLS');
      return value;
    },

    async register(
      { registration_endpoint: url }: DiscoveredProvider,
      body: ClientMetadata,
    ): Promise<RegisteredClient> {
      if (!url) throw problem.provider_refused({ detail: { name, reason: 'it does not register clients' } });
      const { value, text } = read(
        Registered,
        await send(url, { method: 'POST', authorization: toAuthorization(Type, token), body }),
      );
      return { ...withOwnAddress(value, url), text };
    },

    ...createManagement(provider, send, unavailable),
  };
};

/** Calls about a registered client, with its own token or secret. */
function createManagement(
  { Name: name, Type, RegistrationAccessToken: token }: Connection,
  send: Send,
  unavailable: (reason: string, cause?: unknown) => Problem,
) {
  /** Bearer of the calls that manage a client: Okta gives no token of its own. */
  const toManager = ({ RegistrationURI, RegistrationToken }: ManagedClient) => {
    if (RegistrationURI === '')
      throw problem.provider_refused({
        detail: { name, reason: 'it gave no address at which the client can be changed or deleted' },
      });
    return { url: RegistrationURI, authorization: toAuthorization(Type, RegistrationToken || token) };
  };

  async function requestToken(client: ManagedClient, grant: Readonly<Record<string, string>>): Promise<ClientToken> {
    if (client.TokenEndpoint === '') throw unavailable('it has no token endpoint');
    const { authorization, form } = authenticateClient(client);
    const masked = createReader(name, [client.ClientSecret], unavailable);
    const sent = { ...grant, ...form };
    return masked(Token, await send(client.TokenEndpoint, { method: 'POST', authorization, form: sent })).value;
  }

  return {
    async update(client: ManagedClient, metadata: ClientMetadata): Promise<RegisteredClient> {
      const { url, authorization } = toManager(client);
      const secret = client.ClientSecret ? { client_secret: client.ClientSecret } : {};
      const body = { ...metadata, client_id: client.ClientID, ...secret };
      const masked = createReader(name, [token, client.RegistrationToken, client.ClientSecret], unavailable);
      const { value, text } = masked(Registered, await send(url, { method: 'PUT', authorization, body }));
      return { ...withOwnAddress(value, url), text };
    },

    /** Access token of the client itself (RFC 6749 section 4.4). */
    fetchToken: (client: ManagedClient, scope: string): Promise<ClientToken> =>
      requestToken(client, { grant_type: 'client_credentials', ...(scope && { scope }) }),

    /** Access token of a user who signed in, by the code of the redirect (RFC 6749 section 4.1.3). */
    redeemCode: (client: ManagedClient, { code, redirectUrl, verifier }: RedeemedCode): Promise<ClientToken> =>
      requestToken(client, {
        ...{ grant_type: 'authorization_code', code, redirect_uri: redirectUrl },
        code_verifier: verifier,
      }),

    /** Idempotent: a client that does not exist is no error. */
    async remove(client: ManagedClient): Promise<void> {
      const { url, authorization } = toManager(client);
      const response = await send(url, { method: 'DELETE', authorization });
      if (response.status < 300 || response.status === 404) return;
      if (response.status === 401 && (await isUnknownClient(client, send))) return;
      createReader(name, [token, client.RegistrationToken, client.ClientSecret], unavailable)(z.unknown(), response);
    },
  };
}

/** The token of a client is sent to the host that registered it, and to no other. */
function withOwnAddress<C extends { registration_client_uri?: string | undefined }>(client: C, url: string): C {
  const { registration_client_uri: uri } = client;
  return uri && new URL(uri).origin !== new URL(url).origin
    ? { ...client, registration_client_uri: undefined }
    : client;
}

function createSender(
  outbound: OutboundClient,
  { SSLInsecureSkipVerify }: Connection,
  unavailable: (reason: string, cause: unknown) => Problem,
) {
  return async (url: string, { method = 'GET', authorization, body, form }: Call): Promise<OutboundResponse> => {
    const sent = body ? JSON.stringify(body) : form && new URLSearchParams(form).toString();
    const type = body ? 'application/json' : 'application/x-www-form-urlencoded';
    try {
      return await outbound.fetch({
        url,
        method,
        headers: {
          accept: 'application/json',
          ...(authorization && { authorization }),
          ...(sent === undefined ? {} : { 'content-type': type }),
        },
        ...(sent === undefined ? {} : { body: sent }),
        audience: 'operator',
        timeoutMs: callTimeoutMs,
        maxBytes: maxResponseBytes,
        ...(SSLInsecureSkipVerify && { tls: { insecure: true } }),
      });
    } catch (cause) {
      if (cause instanceof Problem) throw unavailable(cause.message, cause);
      throw cause;
    }
  };
}

type Send = ReturnType<typeof createSender>;

/** Reads a JSON response, or throws the error of the provider with secrets masked. */
function createReader(name: string, secrets: readonly string[], unavailable: (reason: string) => Problem) {
  const mask = (text: string) =>
    secrets.reduce((masked, it) => (it ? masked.replaceAll(it, '***') : masked), text).slice(0, maxReasonLength);
  return <S extends z.ZodType>(shape: S, { status, body }: OutboundResponse) => {
    const text = body.toString('utf8');
    const json = tryParseJson(text);
    if (status >= 500 || status === 429) throw unavailable(mask(`${status} ${describeError(json, text)}`));
    if (status >= 300)
      throw problem.provider_refused({ detail: { name, reason: mask(`${status} ${describeError(json, text)}`) } });
    const result = shape.safeParse(json);
    if (!result.success) throw unavailable('its response is not that of an OpenID provider');
    return { value: result.data, text };
  };
}

/** Error response of OAuth (RFC 6749 section 5.2), or the text itself. */
function describeError(json: unknown, text: string): string {
  const { error, error_description } = (json ?? {}) as { error?: unknown; error_description?: unknown };
  const parts = [error, error_description].filter(it => typeof it === 'string' && it !== '');
  return parts.length > 0 ? parts.join(': ') : text;
}

/**
 * A management call with 401 says either that the client does not exist or that its token is wrong (RFC 7592 section
 * 2.3). The token endpoint tells which: an unknown client is invalid_client, one that exists gets another error.
 */
async function isUnknownClient(client: ManagedClient, send: Send): Promise<boolean> {
  if (client.TokenEndpoint === '') return false;
  const { authorization, form } = authenticateClient(client);
  const probe = { grant_type: 'authorization_code', code: 'none', redirect_uri: 'https://client.invalid/' };
  const { body } = await send(client.TokenEndpoint, { method: 'POST', authorization, form: { ...probe, ...form } });
  const json = tryParseJson(body.toString('utf8')) as { error?: unknown } | undefined;
  return json?.error === 'invalid_client';
}

/** Authentication of a client at the token endpoint (RFC 6749 section 2.3.1), by the method that it registered. */
function authenticateClient({ AuthMethod, ClientID, ClientSecret }: ManagedClient): {
  authorization: string;
  form: Record<string, string>;
} {
  const isBasic = ClientSecret !== '' && AuthMethod !== 'client_secret_post';
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  const pair = Buffer.from(`${encode(ClientID)}:${encode(ClientSecret)}`).toString('base64');
  if (isBasic) return { authorization: `Basic ${pair}`, form: {} };
  return { authorization: '', form: { client_id: ClientID, ...(ClientSecret && { client_secret: ClientSecret }) } };
}
