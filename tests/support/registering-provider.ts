import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Configuration } from 'oidc-provider';

/** What a test does with a request in place of the provider; false lets the provider respond. */
type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

export interface RegisteringProvider {
  readonly issuer: string;
  readonly discoverUrl: string;
  readonly initialToken: string;
  /** Method and path of each request, oldest first. */
  readonly requests: string[];
  intercept: Intercept | undefined;
  /** Metadata of a client; undefined where it does not exist. */
  findClient(id: string): Promise<Record<string, unknown> | undefined>;
  /** Access token of a client by its own credentials, or the error of the provider. */
  fetchToken(id: string, secret: string, scope: string): Promise<{ access_token?: string; error?: string }>;
  close(): Promise<void>;
}

const audience = 'urn:test:gateway';
/** Page on which users sign in: it signs one in without a form. */
const interactionPath = '/interaction/';

const configure = (scopes: readonly string[], initialToken: string): Configuration => ({
  scopes: ['openid', 'offline_access', ...scopes],
  cookies: { keys: ['a key of tests'] },
  interactions: { url: (_context, { uid }) => `${interactionPath}${uid}` },
  async loadExistingGrant({ oidc }) {
    const grant = new oidc.provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! });
    grant.addOIDCScope(['openid', ...scopes].join(' '));
    grant.addResourceScope(audience, scopes.join(' '));
    await grant.save();
    return grant;
  },
  clientDefaults: { grant_types: ['authorization_code'], id_token_signed_response_alg: 'RS256' },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    registration: { enabled: true, initialAccessToken: initialToken },
    registrationManagement: { enabled: true, rotateRegistrationAccessToken: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => audience,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: scopes.join(' '),
        audience,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
});

/** An OpenID provider on loopback (oidc-provider) that registers clients, whose access tokens are JWTs. */
export async function startRegisteringProvider(scopes: readonly string[]): Promise<RegisteringProvider> {
  let listener: RequestListener = () => undefined;
  const server = createServer((request, response) => listener(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const initialToken = 'initial-access-token-of-tests';
  const provider = new Provider(issuer, configure(scopes, initialToken));
  const respond = provider.callback();
  const own: RegisteringProvider = {
    issuer,
    discoverUrl: `${issuer}/.well-known/openid-configuration`,
    initialToken,
    requests: [],
    intercept: undefined,
    findClient: async id => (await provider.Client.find(id))?.metadata(),
    async fetchToken(id, secret, scope) {
      const authorization = `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`;
      const body = new URLSearchParams({ grant_type: 'client_credentials', scope });
      const response = await fetch(`${issuer}/token`, { method: 'POST', headers: { authorization }, body });
      return (await response.json()) as { access_token?: string; error?: string };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  listener = async (request, response) => {
    own.requests.push(`${request.method} ${request.url}`);
    if (own.intercept && (await own.intercept(request, response))) return;
    if (!request.url!.startsWith(interactionPath)) return void (await respond(request, response));
    await provider.interactionFinished(request, response, { login: { accountId: 'dana' } });
  };
  return own;
}
