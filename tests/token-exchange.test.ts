import assert from 'node:assert/strict';
import { createPublicKey, hash, X509Certificate } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { jwtVerify } from 'jose';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from './support/app.ts';
import { makeCertificate } from './support/certificates.ts';
import { hook, issuer, publishTokens, tokenOf, type Wanted } from './support/oauth2.ts';
import { type Publisher, startPublisher } from './support/tokens.ts';
import { findUnavailableReason } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';
import { type Receiver, startReceiver } from './support/webhooks.ts';

onEveryEngine(
  'OAuth 2.0 token exchange',
  app => {
    let upstream: Upstream;
    let receiver: Receiver;
    let server: Publisher;
    before(async () => {
      [upstream, receiver, server] = await Promise.all([startUpstream(), startReceiver(), startPublisher()]);
    });
    after(async () => {
      await Promise.all([upstream.close(), receiver.close(), server.close()]);
    });
    beforeEach(() => {
      server.bodies = [];
      server.pages = { '/token': () => ({ access_token: `new-${++given}`, token_type: 'Bearer', expires_in: 600 }) };
      upstream.requests.length = 0;
    });
    let given = 0;

    const provider = (more: object = {}) => ({
      name: createPublicId(),
      tokenEndpoint: `${server.url}/token`,
      issuers: [issuer],
      clientAuth: { clientId: 'me', clientSecret: 'my secret' },
      ...more,
    });
    const publishExchange = (providers: object[], more: Wanted = {}) =>
      publishTokens(app(), upstream, { scheme: { tokenExchange: { enabled: true, providers } }, ...more });
    const readForwardedCredential = () => upstream.requests.at(-1)?.headers.authorization;
    const readTokenRequest = (at = -1) => {
      const { headers, body } = server.bodies.at(at) ?? assert.fail('no token request');
      return { headers, form: Object.fromEntries(new URLSearchParams(body)) };
    };

    test('the upstream receives the exchanged token instead of the client’s, and an event is emitted', async () => {
      const path = `/${createPublicId()}`;
      const target = { audience: 'orders', scopes: ['a', 'b'] };
      const { call } = await publishExchange(
        [provider({ defaultTarget: target, customParams: { resource: 'urn:x' } })],
        {
          server: hook('OAuth2ExchangeSucceeded', receiver.url + path),
        },
      );
      const token = tokenOf();
      const { status, text } = await call('/x', { authorization: `Bearer ${token}`, cookie: 'a=b', 'x-secret': 'c' });
      assert.equal(status, 200, text);
      assert.equal(readForwardedCredential(), `Bearer new-${given}`);
      const { form, headers } = readTokenRequest();
      assert.deepEqual(form, {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: token,
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        audience: 'orders',
        scope: 'a b',
        resource: 'urn:x',
      });
      assert.equal(headers.authorization, `Basic ${Buffer.from('me:my%20secret').toString('base64')}`);
      assert.deepEqual([headers.cookie, headers['x-secret']], [undefined, undefined]);
      const [received] = await receiver.take(path);
      assert.match(received!.body, /OAuth2ExchangeSucceeded/);
    });

    test('an assertion is exchanged, client credentials may be in the form, and an operation may set its own target', async () => {
      const clientAuth = { method: 'client_secret_post', clientId: 'me', clientSecret: 'my secret' };
      const { call, as } = await publishExchange(
        [provider({ grantType: 'jwt-bearer', clientAuth, defaultTarget: { audience: 'all', scopes: ['x'] } })],
        {
          document: { paths: { '/bills': { get: { operationId: 'bills', responses: {} } } } },
          operations: { bills: { exchange: { enabled: true, audience: 'bills' } } },
        },
      );
      const headers = as({});
      assert.equal((await call('/bills', headers)).status, 200);
      assert.deepEqual(readTokenRequest().form, {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: headers.authorization.slice('Bearer '.length),
        audience: 'bills',
        scope: 'x',
        client_id: 'me',
        client_secret: 'my secret',
      });
      assert.equal(readTokenRequest().headers.authorization, undefined);
      assert.equal((await call('/other', headers)).status, 200);
      assert.equal(readTokenRequest().form.audience, 'all');
    });

    test('a public client sends its id in the form, and no secret', async () => {
      for (const method of ['client_secret_basic', 'client_secret_post']) {
        const { call, as } = await publishExchange([provider({ clientAuth: { method, clientId: 'me' } })]);
        assert.equal((await call('/x', as({}))).status, 200);
        const { form, headers } = readTokenRequest();
        assert.deepEqual([form.client_id, form.client_secret, headers.authorization], ['me', undefined, undefined]);
      }
    });

    test('client authentication by private_key_jwt is signed with the key of a certificate', async () => {
      for (const keyType of ['rsa', 'ec', 'ed25519'] as const) {
        const { certPem, keyPem } = makeCertificate({ cn: 'gateway', keyType });
        const { id } = (await app().ask('POST', '/api/certs', { body: certPem + keyPem })).body;
        const clientAuth = { method: 'private_key_jwt', clientId: 'me', certId: id };
        const { call, as } = await publishExchange([provider({ clientAuth })]);
        const { status, text } = await call('/x', as({}));
        assert.equal(status, 200, text);
        const { client_id, client_assertion_type, client_assertion } = readTokenRequest().form;
        assert.equal(client_id, 'me');
        assert.equal(client_assertion_type, 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
        const { payload, protectedHeader } = await jwtVerify(client_assertion!, createPublicKey(certPem));
        assert.deepEqual([payload.iss, payload.sub, payload.aud], ['me', 'me', `${server.url}/token`]);
        assert.ok(payload.jti && payload.exp! - payload.iat! <= 60);
        assert.equal(protectedHeader['x5t#S256'], hash('sha256', new X509Certificate(certPem).raw, 'base64url'));
      }
      const clientAuth = { method: 'private_key_jwt', clientId: 'me', certId: 'nothing' };
      const { url } = await publishExchange([provider({ clientAuth })]);
      const reason = await findUnavailableReason(app(), `${url}/x`);
      assert.match(
        reason,
        /the certificate nothing of the provider \w+ is not in the certificate store with its private key/,
      );
    });

    test('exchanged tokens are cached per client and target, and concurrent requests exchange once', async () => {
      const { call, as } = await publishExchange([provider({ cache: { enabled: true, mode: 'derived' } })]);
      const [ann, ...others] = ['ann', 'bob', 'cid', 'dan'].map(sub => as({ sub }));
      await Promise.all(Array.from({ length: 10 }, () => call('/x', ann)));
      assert.equal(server.bodies.length, 1);
      const first = readForwardedCredential();
      for (const [index, other] of others.entries()) {
        await call('/x', other);
        assert.equal(server.bodies.length, 2 + index);
        assert.notEqual(readForwardedCredential(), first);
      }
      await call('/x', ann);
      assert.deepEqual([server.bodies.length, readForwardedCredential()], [4, first]);
    });

    test('a token is not cached with the cache disabled, within the safety margin or beyond its TTL', async () => {
      for (const cache of [
        { enabled: false },
        { enabled: true, mode: 'derived', safetyMargin: '10m' },
        { enabled: true, mode: 'derived', maxTimeout: '1ns' },
        { enabled: true, mode: 'static', timeout: '0s' },
        { enabled: true, mode: 'static', timeout: '1h', safetyMargin: '10m' },
      ]) {
        const { call, as } = await publishExchange([provider({ cache })]);
        server.bodies = [];
        const headers = as({});
        await call('/x', headers);
        await call('/x', headers);
        assert.equal(server.bodies.length, 2, JSON.stringify(cache));
      }
      const { call, as } = await publishExchange([
        provider({ cache: { enabled: true, mode: 'static', timeout: '1h' } }),
      ]);
      server.bodies = [];
      const headers = as({});
      await call('/x', headers);
      await call('/x', headers);
      assert.equal(server.bodies.length, 1);
    });

    test('a token that is already expired is not cached; one without expires_in is cached for the provider’s TTL', async () => {
      for (const [expires_in, asked] of [
        [0, 2],
        ['0', 2],
        [-1, 2],
        [undefined, 1],
        [null, 1],
        ['soon', 1],
      ] as const) {
        server.pages['/token'] = { access_token: 'new', token_type: 'Bearer', expires_in };
        const { call, as } = await publishExchange([
          provider({ cache: { enabled: true, mode: 'static', timeout: '1h' } }),
        ]);
        server.bodies = [];
        const headers = as({});
        for (const _ of [1, 2]) assert.equal((await call('/x', headers)).status, 200);
        assert.equal(server.bodies.length, asked, `expires_in: ${expires_in}`);
      }
    });

    test('the issuer of a token selects the provider: exact name, then anchored pattern, then the provider for the rest', async () => {
      for (const path of ['/named', '/fitting', '/rest']) server.pages[path] = { access_token: path };
      const { call, as } = await publishExchange([
        provider({ tokenEndpoint: `${server.url}/rest`, issuers: [] }),
        provider({ tokenEndpoint: `${server.url}/fitting`, issuers: ['regex:^https://[a-z]+\\.example$'] }),
        provider({ tokenEndpoint: `${server.url}/named`, issuers: [issuer] }),
      ]);
      for (const [iss, path] of [
        [issuer, '/named'],
        ['https://other.example', '/fitting'],
        ['https://other.example.org', '/rest'],
      ]) {
        assert.equal((await call('/x', as({ iss }))).status, 200);
        assert.equal(readForwardedCredential(), `Bearer ${path}`);
      }
    });

    test('an unverified token is exchanged by the provider of the issuer that it names', async () => {
      for (const path of ['/named', '/rest']) server.pages[path] = { access_token: path };
      const providers = [
        provider({ tokenEndpoint: `${server.url}/rest`, issuers: [] }),
        provider({ tokenEndpoint: `${server.url}/named`, issuers: [issuer] }),
      ];
      const { call, id } = await publishExchange(providers, {
        document: { security: [{ key: [], scopes: [] }] },
        schemes: { key: { enabled: true, header: { enabled: true, name: 'X-Key' } } },
      });
      const access_rights = { [id]: { api_id: id, versions: [''] } };
      const made = await app().ask('POST', '/api/keys', { body: { access_rights, rate: 1000, per: 1 } });
      assert.equal(made.status, 200, made.text);
      for (const [token, path] of [
        [tokenOf(), '/named'],
        [tokenOf({ iss: 'https://stranger' }), '/rest'],
        ['opaque', '/rest'],
      ]) {
        const { status, text } = await call('/x', { 'x-key': made.body.key_id, authorization: `Bearer ${token}` });
        assert.equal(status, 200, text);
        assert.equal(readForwardedCredential(), `Bearer ${path}`);
      }
    });

    test('a failed exchange ends the request before the upstream and emits OAuth2ExchangeFailed', async () => {
      const path = `/${createPublicId()}`;
      const { call, as } = await publishExchange([provider({ timeout: '200ms' })], {
        server: hook('OAuth2ExchangeFailed', receiver.url + path),
      });
      const cases: [claims: object, page: unknown, status: number, message: string][] = [
        [{ iss: 'https://stranger' }, undefined, 403, 'Tokens of this issuer cannot be exchanged'],
        [{ sub: 'a' }, undefined, 502, 'Token exchange failed'],
        [{ sub: 'b' }, 'no JSON', 502, 'Token exchange failed'],
        [{ sub: 'c' }, { access_token: 'two\nlines' }, 502, 'Token exchange failed'],
        [{ sub: 'd' }, { access_token: 'x', token_type: 'DPoP' }, 502, 'Token exchange failed'],
        [{ sub: 'e' }, () => new Promise(() => undefined), 502, 'Token exchange failed'],
      ];
      for (const [claims, page, status, message] of cases) {
        server.pages['/token'] = page;
        const answer = await call('/x', as(claims));
        assert.deepEqual([answer.status, answer.body], [status, { error: message }]);
      }
      assert.equal(upstream.requests.length, 0);
      const received = await receiver.take(path, cases.length);
      assert.match(received[0]!.body, /OAuth2ExchangeFailed/);
    });

    test('a token that the provider rejects is not exchanged again immediately', async () => {
      let times = 0;
      const refusing = await startUpstream();
      refusing.answer = (_request, response) => {
        times++;
        response.writeHead(400).end('{"error":"invalid_grant"}');
      };
      const { call, as } = await publishExchange([provider({ tokenEndpoint: `${refusing.url}/token` })]);
      const headers = as({});
      for (const _ of [1, 2]) {
        const { status, body } = await call('/x', headers);
        assert.deepEqual([status, body], [403, { error: 'The token was not exchanged' }]);
      }
      assert.equal(times, 1);
      await refusing.close();
    });

    test('claims in tokenEndpoint are percent-encoded and cannot change the path', async () => {
      server.pages['/tenants/blue%2F..%2Fx/token'] = { access_token: 'of-the-tenant' };
      const tokenEndpoint = `${server.url}/tenants/$gw_context.jwt_claims_tid/token`;
      const { call, as } = await publishExchange([provider({ tokenEndpoint })], {
        global: { contextVariables: { enabled: true } },
      });
      assert.equal((await call('/x', as({ tid: 'blue/../x' }))).status, 200);
      assert.equal(readForwardedCredential(), 'Bearer of-the-tenant');
    });

    test('stripped credentials are still exchanged, and unauthenticated endpoints exchange none', async () => {
      const { call, as } = await publishExchange([provider()], {
        authentication: { stripAuthorizationData: true },
        document: { paths: { '/open': { get: { operationId: 'open', responses: {} } } } },
        operations: { open: { ignoreAuthentication: { enabled: true } } },
      });
      assert.equal((await call('/x', as({}))).status, 200);
      assert.equal(readForwardedCredential(), `Bearer new-${given}`);
      assert.equal((await call('/open')).status, 200);
      assert.equal(readForwardedCredential(), undefined);
    });

    test('a definition is validated again after its secrets are resolved', async () => {
      const { url } = await publishExchange([provider({ tokenEndpoint: 'secrets://endpoint' })]);
      assert.match(
        await findUnavailableReason(app(), `${url}/x`),
        /providers\[0\]\.tokenEndpoint must be an absolute http or https address/,
      );
    });
  },
  { settings: { 'secrets.values': '{"endpoint":"nonsense"}' } },
);
