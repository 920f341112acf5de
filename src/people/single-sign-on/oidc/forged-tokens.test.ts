import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { SignJWT } from 'jose';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { type CookieJar, dashboardUrl, visit } from '../../../../tests/support/oidc.ts';

const right = generateKeyPairSync('rsa', { modulusLength: 2048 });
const wrong = generateKeyPairSync('rsa', { modulusLength: 2048 });
const secret = 'a shared secret that the provider and the client know';

type Json = Record<string, unknown>;

/** An OpenID provider that responds with what a test has set. */
async function startForger() {
  const own = {
    issuer: '',
    /** Changes of the discovery document. */
    discovery: {} as Json,
    token: {} as Json,
    userinfo: undefined as Json | undefined,
    discoveryRequests: 0,
    tokenRequests: [] as { body: URLSearchParams; authorization: string | undefined }[],
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const jwk = { ...right.publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'RS256' };
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
    }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(documents[request.url!]?.()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  own.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return own;
}

onEveryEngine(
  'ID tokens of single sign-on',
  app => {
    let forger: Awaited<ReturnType<typeof startForger>>;
    before(async () => {
      forger = await startForger();
    });
    after(() => forger?.close());

    async function begin(options: Json = {}) {
      Object.assign(forger, { discovery: {}, userinfo: undefined });
      const body = {
        Name: 'Forger',
        ProviderName: 'SocialProvider',
        ProviderConfig: {
          UseProviders: [
            {
              Name: 'openid-connect',
              Key: 'client',
              Secret: secret,
              DiscoverURL: `${forger.issuer}/.well-known/openid-configuration`,
              ...options,
            },
          ],
        },
      };
      const { body: made } = await app().ask('POST', '/api/sso/profiles', { body });
      return `${app().url.dashboard}/tib/auth/${made.Meta}/openid-connect`;
    }

    interface Sent {
      readonly nonce: string;
      readonly state: string;
    }

    /** Begins a sign-on and completes it with a token made from what was sent to the provider. */
    async function complete(login: string, makeToken: (sent: Sent) => Promise<Json> | Json): Promise<Response> {
      const jar: CookieJar = new Map();
      const location = (await visit(login, jar)).headers.get('location')!;
      const { nonce, state } = Object.fromEntries(new URL(location).searchParams) as unknown as Sent;
      forger.token = await makeToken({ nonce, state });
      return visit(`${login}/callback?code=c&state=${state}`, jar);
    }

    const times = () => ({ iat: Math.floor(Date.now() / 1000), exp: Math.floor(Date.now() / 1000) + 60 });
    const claimsFor = (nonce: string): Json => ({
      iss: forger.issuer,
      aud: 'client',
      sub: 'user',
      nonce,
      email: 'ann@example.org',
      email_verified: true,
      ...times(),
    });
    const sign = (claims: Json, key: KeyObject = right.privateKey, header = { alg: 'RS256', kid: 'k' }) =>
      new SignJWT(claims).setProtectedHeader(header).sign(key);

    test('a valid token signs on, with PKCE and a client authentication that is form-encoded', async () => {
      const login = await begin();
      const response = await complete(login, async ({ nonce }) => ({ id_token: await sign(claimsFor(nonce)) }));
      assert.equal(response.status, 303, await response.text());
      const { body, authorization } = forger.tokenRequests.at(-1)!;
      assert.equal(body.get('grant_type'), 'authorization_code');
      assert.match(body.get('code_verifier')!, /^[\w-]{43}$/);
      assert.match(
        body.get('redirect_uri')!,
        /^https:\/\/dashboard\.example\/tib\/auth\/\w+\/openid-connect\/callback$/,
      );
      const basic = Buffer.from(authorization!.slice('Basic '.length), 'base64').toString();
      assert.equal(basic, `client:${secret.replaceAll(' ', '+')}`);
    });

    test('a changed claim, signature or algorithm is refused', async () => {
      const login = await begin();
      const seconds = Math.floor(Date.now() / 1000);
      const changes: Record<string, Json> = {
        issuer: { iss: 'https://other.example' },
        'several issuers': { iss: [forger.issuer] },
        audience: { aud: 'other' },
        'no audience': { aud: undefined },
        'several audiences without a party': { aud: ['client', 'other'] },
        'another party': { aud: ['client', 'other'], azp: 'other' },
        nonce: { nonce: 'other' },
        'no nonce': { nonce: undefined },
        'no subject': { sub: undefined },
        expired: { exp: seconds - 120 },
        'no expiry': { exp: undefined },
        'no time of issue': { iat: undefined },
        'issued in the future': { iat: seconds + 600 },
        'not yet valid': { nbf: seconds + 600 },
      };
      for (const [about, change] of Object.entries(changes)) {
        const response = await complete(login, async ({ nonce }) => ({
          id_token: await sign({ ...claimsFor(nonce), ...change }),
        }));
        assert.equal(response.status, 403, about);
        assert.deepEqual(response.headers.getSetCookie(), [], about);
      }
      const hmacKey = new TextEncoder().encode(secret);
      const publicPem = right.publicKey.export({ format: 'pem', type: 'spki' });
      const forgeries: Record<string, (claims: Json) => Promise<Json> | Json> = {
        'another key': async claims => ({ id_token: await sign(claims, wrong.privateKey) }),
        'an unknown key id': async claims => ({
          id_token: await sign(claims, right.privateKey, { alg: 'RS256', kid: 'x' }),
        }),
        'the client secret as key': async claims => ({
          id_token: await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(hmacKey),
        }),
        'the public key as shared secret': async claims => ({
          id_token: await new SignJWT(claims)
            .setProtectedHeader({ alg: 'HS256', kid: 'k' })
            .sign(new TextEncoder().encode(String(publicPem))),
        }),
        'no signature': claims => {
          const encode = (value: Json) => Buffer.from(JSON.stringify(value)).toString('base64url');
          return { id_token: `${encode({ alg: 'none' })}.${encode(claims)}.` };
        },
        'no token': () => ({ access_token: 'a' }),
        'a list': () => [] as unknown as Json,
      };
      for (const [about, forge] of Object.entries(forgeries)) {
        const response = await complete(login, ({ nonce }) => forge(claimsFor(nonce)));
        assert.equal(response.status, 403, about);
        assert.deepEqual(response.headers.getSetCookie(), [], about);
      }
    });

    test('userinfo about another subject is refused, and adds claims of the same one', async () => {
      const login = await begin();
      const withoutEmail = async ({ nonce }: Sent) => {
        const { email: _email, ...claims } = claimsFor(nonce);
        return { id_token: await sign(claims), access_token: 'a' };
      };
      forger.userinfo = { sub: 'other', email: 'ann@example.org' };
      assert.equal((await complete(login, withoutEmail)).status, 403);
      forger.userinfo = { sub: 'user', email: 'ann@example.org' };
      assert.equal((await complete(login, withoutEmail)).status, 303);
    });

    test('a discovery document with another issuer, or endpoints without TLS, is not used', async () => {
      for (const change of [
        { issuer: 'https://other.example' },
        { token_endpoint: 'http://idp.example/token' },
        { authorization_endpoint: 'javascript:alert(1)' },
        { jwks_uri: undefined },
      ]) {
        const login = await begin();
        // A profile of another organisation has no cached document.
        const { accessKey } = await app().stranger();
        const { body: view } = await app().ask('GET', `/api/sso/profiles/${login.split('/').at(-2)}`);
        const [own] = view.ProviderConfig.UseProviders;
        const body = { ...view, ProviderConfig: { UseProviders: [{ ...own, Secret: secret }] } };
        const made = await app().ask('POST', '/api/sso/profiles', { body, credential: accessKey });
        forger.discovery = change;
        const response = await visit(login.replace(view.ID, made.body.Meta), new Map());
        assert.equal(response.status, 502, JSON.stringify(change));
      }
    });

    test('browsers that begin a sign-on at the same time share one request to the provider, also a failed one', async () => {
      const { accessKey } = await app().stranger();
      const DiscoverURL = `${forger.issuer}/.well-known/openid-configuration`;
      const UseProviders = [{ Name: 'openid-connect', Key: 'client', DiscoverURL }];
      const body = { Name: 'F', ProviderName: 'SocialProvider', ProviderConfig: { UseProviders } };
      const { body: made } = await app().ask('POST', '/api/sso/profiles', { body, credential: accessKey });
      const login = `${app().url.dashboard}/tib/auth/${made.Meta}/openid-connect`;
      forger.discovery = { issuer: 'https://other.example' };
      const before = forger.discoveryRequests;
      const replies = await Promise.all(Array.from({ length: 10 }, () => visit(login, new Map())));
      assert.deepEqual([...new Set(replies.map(it => it.status))], [502]);
      assert.equal((await visit(login, new Map())).status, 502);
      assert.equal(forger.discoveryRequests - before, 1);
      forger.discovery = {};
    });
  },
  { settings: { 'dashboard.url': dashboardUrl, 'sign_in.max_address_failures': '0' } },
);

onEveryEngine(
  'Failed sign-ons through identity providers',
  app => {
    test('are limited by client address', async () => {
      const DiscoverURL = 'https://idp.example/.well-known/openid-configuration';
      const UseProviders = [{ Name: 'openid-connect', Key: 'client', DiscoverURL }];
      const body = { Name: 'F', ProviderName: 'SocialProvider', ProviderConfig: { UseProviders } };
      const { body: made } = await app().ask('POST', '/api/sso/profiles', { body });
      const callback = `${app().url.dashboard}/tib/auth/${made.Meta}/openid-connect/callback?code=c&state=s`;
      const statuses = [];
      for (let attempt = 0; attempt < 4; attempt++) statuses.push((await visit(callback, new Map())).status);
      assert.deepEqual(statuses, [403, 403, 403, 429]);
    });
  },
  { settings: { 'sign_in.max_address_failures': '3' } },
);
