import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Keys that the forger publishes. */
export const forgerKeys = generateKeyPairSync('rsa', { modulusLength: 2048 });

type Json = Record<string, unknown>;
export type OidcForger = Awaited<ReturnType<typeof startForger>>;

/** An OpenID provider that responds with what a test has set. */
export async function startForger() {
  const own = {
    issuer: '',
    /** Changes of the discovery document. */
    discovery: {} as Json,
    token: {} as Json,
    userinfo: undefined as Json | undefined,
    /** Responses of the token endpoint wait for it. */
    hold: Promise.resolve() as Promise<void>,
    discoveryRequests: 0,
    tokenRequests: [] as { body: URLSearchParams; authorization: string | undefined }[],
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const jwk = { ...forgerKeys.publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'RS256' };
  const documents: Record<string, () => unknown> = {
    '/.well-known/openid-configuration': () => ({
      issuer: own.issuer,
      authorization_endpoint: `${own.issuer}/auth`,
      token_endpoint: `${own.issuer}/token`,
      jwks_uri: `${own.issuer}/jwks`,
      userinfo_endpoint: `${own.issuer}/me`,
      ...own.discovery,
    }),
    '/jwks': () => ({ keys: [jwk] }),
    '/token': () => own.token,
    '/me': () => own.userinfo,
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.url!.startsWith('/.well-known/')) own.discoveryRequests += 1;
    if (request.url === '/token') {
      const body = new URLSearchParams(Buffer.concat(chunks).toString());
      own.tokenRequests.push({ body, authorization: request.headers.authorization });
      await own.hold;
    }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(documents[request.url!]?.()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  own.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return own;
}
