import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface KeycloakClient {
  readonly metadata: Record<string, unknown>;
  /** Token that the next request about the client needs: each use replaces it. */
  token: string;
}

/**
 * Client registration in the shape of Keycloak: below a realm, with an initial access token, and a registration access
 * token that every request about a client replaces.
 */
export async function startKeycloakProvider() {
  const clients = new Map<string, KeycloakClient>();
  const initialToken = 'initial-access-token';
  const state = {
    url: '',
    discoverUrl: '',
    initialToken,
    clients,
    /** Runs before a request is handled, and after it with its effect made; true ends it without a response. */
    intercept: undefined as ((moment: 'before' | 'after', request: IncomingMessage) => boolean) | undefined,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const root = '/realms/shop';
  const endpoint = `${root}/clients-registrations/openid-connect`;

  const toReply = (id: string) => {
    const { metadata, token } = clients.get(id)!;
    const registration_client_uri = `${state.url}${endpoint}/${id}`;
    return { ...metadata, client_id: id, registration_client_uri, registration_access_token: token };
  };

  function handle(method: string, path: string, bearer: string, body: Record<string, unknown>): [number, unknown?] {
    if (path === `${root}/.well-known/openid-configuration`)
      return [
        200,
        {
          issuer: state.url + root,
          jwks_uri: `${state.url}${root}/protocol/openid-connect/certs`,
          token_endpoint: `${state.url}${root}/protocol/openid-connect/token`,
          registration_endpoint: state.url + endpoint,
          scopes_supported: ['openid', 'orders', 'gold'],
        },
      ];
    if (path === endpoint && method === 'POST') {
      if (bearer !== initialToken) return [401, { error: 'invalid_token', error_description: 'Failed decode token' }];
      const id = randomUUID();
      clients.set(id, { metadata: { ...body, client_secret: randomUUID() }, token: randomUUID() });
      return [201, toReply(id)];
    }
    if (path.endsWith('/token')) {
      const [id] = Buffer.from(bearer.replace(/^Basic /, ''), 'base64')
        .toString()
        .split(':');
      return clients.has(id!) ? [400, { error: 'invalid_grant' }] : [401, { error: 'invalid_client' }];
    }
    const id = path.slice(endpoint.length + 1);
    const client = path.startsWith(`${endpoint}/`) ? clients.get(id) : undefined;
    if (client?.token !== bearer) return [401, { error: 'invalid_token', error_description: 'Not authorized' }];
    if (method === 'DELETE') return [clients.delete(id) ? 204 : 404];
    const metadata = { ...body, client_secret: client.metadata.client_secret };
    clients.set(id, { metadata, token: randomUUID() });
    return [200, toReply(id)];
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = Buffer.concat(await request.toArray()).toString();
    if (state.intercept?.('before', request)) return void response.destroy();
    const bearer = (request.headers.authorization ?? '').replace(/^Bearer /, '');
    const [status, body] = handle(request.method!, request.url!, bearer, text.startsWith('{') ? JSON.parse(text) : {});
    if (state.intercept?.('after', request)) return void response.destroy();
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body === undefined ? '' : JSON.stringify(body));
  }

  const server = createServer((request, response) => void respond(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  state.discoverUrl = `${state.url}${root}/.well-known/openid-configuration`;
  return state;
}

export type KeycloakProvider = Awaited<ReturnType<typeof startKeycloakProvider>>;
