import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { after, before, test } from 'node:test';
import { SignJWT } from 'jose';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { type CookieJar, dashboardUrl, visit } from '../../../../tests/support/oidc.ts';
import { type OidcForger, forgerKeys as right, startForger } from '../../../../tests/support/oidc-forger.ts';

const wrong = generateKeyPairSync('rsa', { modulusLength: 2048 });
const secret = 'a shared secret that the provider and the client know';

type Json = Record<string, unknown>;

onEveryEngine(
  'ID tokens of single sign-on',
  app => {
    let forger: OidcForger;
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

    test('browsers that begin a sign-on at the same time share one request to the provider, a failed one and one that succeeds', async () => {
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
      const { accessKey: other } = await app().stranger();
      const next = (await app().ask('POST', '/api/sso/profiles', { body, credential: other })).body.Meta;
      const started = forger.discoveryRequests;
      const begun = await Promise.all(
        Array.from({ length: 10 }, () => visit(login.replace(made.Meta, next), new Map())),
      );
      assert.deepEqual([...new Set(begun.map(it => it.status))], [303]);
      assert.equal(forger.discoveryRequests - started, 1);
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
