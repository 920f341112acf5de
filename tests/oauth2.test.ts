import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from './support/app.ts';
import { documentOf, header, hook, publishTokens, tokenOf } from './support/oauth2.ts';
import { startPublisher } from './support/tokens.ts';
import { findUnavailableReason } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';
import { type Receiver, startReceiver } from './support/webhooks.ts';

const createOperation = (id: string, ...scopes: string[]) => ({
  operationId: id,
  security: [{ scopes }],
  responses: { 200: { description: 'ok' } },
});
const description = 'The token lacks a required scope';

onEveryEngine('OAuth 2.0 scopes and protected resource metadata', app => {
  let upstream: Upstream;
  let receiver: Receiver;
  before(async () => {
    [upstream, receiver] = await Promise.all([startUpstream(), startReceiver()]);
  });
  after(async () => {
    await upstream.close();
    await receiver.close();
  });

  const paths = {
    '/items': { get: createOperation('list', 'read'), post: createOperation('make', 'write', 'admin') },
    '/items/{id}': {
      get: { operationId: 'one', security: [{ scopes: ['read'] }, { scopes: ['admin'] }], responses: {} },
    },
    '/open': { get: createOperation('open', 'admin') },
  };
  const security = [{ jwt: [], scopes: ['base'] }];
  const publishScoped = (scopeCheck: object, more: object = {}) =>
    publishTokens(app(), upstream, {
      document: { paths, security },
      scheme: { scopeCheck: { enabled: true, ...scopeCheck } },
      operations: { open: { scopeCheck: { enabled: false } } },
      ...more,
    });

  test('a token without the scopes of operation and document gets insufficient_scope (RFC 6750) and emits an event', async () => {
    const path = `/${createPublicId()}`;
    const { id, call, as } = await publishScoped({}, { server: hook('OAuth2ScopeCheckFailed', receiver.url + path) });
    assert.equal((await call('/items', as({ scope: 'base read' }))).status, 200);
    const { status, headers, text } = await call('/items', as({ scope: 'other' }));
    const refusal = { error: 'insufficient_scope', error_description: description, scope: 'read base' };
    assert.deepEqual([status, text], [403, JSON.stringify(refusal)]);
    assert.equal(headers.get('content-type'), 'application/json');
    assert.equal(
      headers.get('www-authenticate'),
      `Bearer error="insufficient_scope", error_description="${description}", scope="read base", realm="${id}"`,
    );
    const [received] = await receiver.take(path);
    assert.match(received!.body, /OAuth2ScopeCheckFailed/);
  });

  test('scope claims are merged, as text or list; one requirement of an operation is enough; HEAD is checked as GET', async () => {
    const { call, as } = await publishScoped({});
    assert.equal((await call('/items', as({ scope: 'base', scp: ['read'] }))).status, 200);
    assert.equal((await call('/items/7', as({ scope: 'base admin' }))).status, 200);
    assert.equal((await call('/items', as({ scope: 'base write' }), { method: 'POST' })).status, 403);
    assert.equal((await call('/items', as({ scope: 'base' }), { method: 'HEAD' })).status, 403);
    assert.equal((await call('/elsewhere', as({ scope: 'base' }))).status, 200);
    assert.equal((await call('/elsewhere', as({ scope: 'read' }))).status, 403);
    assert.equal((await call('/open', as({}))).status, 200, 'the operation disables the check');
    assert.equal((await call('/items;x', as({ scope: 'base' }))).status, 400, 'an ambiguous path');
  });

  test('claimNames, separator and scopeSource choose the claims, their separator and the required scopes', async () => {
    const mine = await publishScoped({ claimNames: ['rights.all'], separator: ',', scopeSource: 'operation' });
    assert.equal((await mine.call('/items', mine.as({ rights: { all: 'read,other' } }))).status, 200);
    assert.equal((await mine.call('/items', mine.as({ scope: 'read' }))).status, 403);
    assert.equal((await mine.call('/elsewhere', mine.as({}))).status, 200);
    const global = await publishScoped({ scopeSource: 'global' });
    assert.equal((await global.call('/items', global.as({ scope: 'base' }))).status, 200);
    assert.equal((await global.call('/items', global.as({ scope: 'read' }))).status, 403);
  });

  test('scopes are read only from the verified token', async () => {
    const { call, id } = await publishScoped(
      { scopeSource: 'operation' },
      { scheme: { scopeCheck: { enabled: true }, header: { enabled: true, name: 'X-Token' } } },
    );
    const authorization = `Bearer ${tokenOf({ scope: 'base' })}`;
    const missing = await call('/items', { authorization });
    assert.deepEqual([missing.status, missing.body], [401, { error: 'Authorization field missing' }]);
    assert.equal(missing.headers.get('www-authenticate'), `Bearer realm="${id}"`);
    const other = await call('/items', { authorization, 'x-token': tokenOf({ scope: 'base read' }) });
    assert.deepEqual([other.status, other.body], [401, { error: 'The bearer token was not verified' }]);
    const { status } = await call('/items', {
      authorization: `Bearer ${tokenOf({ scope: 'base read', jti: 'x' })}`,
      'x-token': `Bearer ${tokenOf({ scope: 'base read', jti: 'x' })}`,
    });
    assert.equal(status, 200);
  });

  test('scopes from token introspection are checked like those in the token', async () => {
    const server = await startPublisher();
    const scopes: Record<string, string> = { good: 'base', poor: 'other' };
    server.pages['/introspect'] = (body: string) => {
      const scope = scopes[new URLSearchParams(body).get('token')!];
      return { active: scope !== undefined, sub: 'ann', scope };
    };
    const introspection = { enabled: true, url: `${server.url}/introspect`, clientId: 'me', clientSecret: 'word' };
    const { call } = await publishTokens(app(), upstream, {
      document: { security: [{ external: [], scopes: ['base'] }] },
      scheme: { scopeCheck: { enabled: true } },
      schemes: { jwt: { enabled: false }, external: { enabled: true, header, providers: [{ introspection }] } },
    });
    for (const [token, status] of Object.entries({ good: 200, poor: 403, unknown: 401 }))
      assert.equal((await call('/x', { authorization: `Bearer ${token}` })).status, status, token);
    await server.close();
  });

  test('an API that verifies no token and has a scope check is not served', async () => {
    const { url } = await publishTokens(app(), upstream, {
      document: { security: [{ key: [], scopes: [] }] },
      scheme: { scopeCheck: { enabled: true } },
      schemes: { jwt: { enabled: false }, key: { enabled: true } },
    });
    assert.match(
      await findUnavailableReason(app(), `${url}/x`),
      /scope checks need an auth method that verifies tokens/,
    );
  });

  test('protected resource metadata is served, and refusals carry its URL in WWW-Authenticate', async () => {
    const resource = 'https://api.example/orders';
    const metadata = { enabled: true, resource, authorizationServers: ['https://login.example'] };
    const { call, as } = await publishScoped(
      {},
      {
        scheme: { scopeCheck: { enabled: true }, protectedResourceMetadata: metadata },
      },
    );
    const { status, headers, body } = await call('/.well-known/oauth-protected-resource');
    assert.deepEqual([status, headers.get('content-type')], [200, 'application/json']);
    assert.deepEqual(body, {
      resource,
      authorization_servers: ['https://login.example'],
      scopes_supported: ['admin', 'base', 'extra', 'read', 'write'],
      bearer_methods_supported: ['header'],
    });
    const refused = await call('/items', as({}));
    assert.match(
      refused.headers.get('www-authenticate')!,
      /resource_metadata="https:\/\/api\.example\/orders\/\.well-known\/oauth-protected-resource"$/,
    );
    assert.equal((await call('/.well-known/oauth-protected-resource', {}, { method: 'POST' })).status, 405);
  });

  test('the metadata document of the API is served at its path, and the one of the security scheme takes precedence', async () => {
    const protectedResourceMetadata = {
      enabled: true,
      wellKnownPath: '/about/tokens',
      resource: 'urn:orders',
      authorizationServers: ['https://old.example'],
      scopesSupported: ['old'],
    };
    const older = await publishTokens(app(), upstream, { authentication: { protectedResourceMetadata } });
    assert.deepEqual((await older.call('/about/tokens')).body, {
      resource: 'urn:orders',
      authorization_servers: ['https://old.example'],
      scopes_supported: ['old'],
      bearer_methods_supported: ['header'],
    });
    const both = await publishTokens(app(), upstream, {
      authentication: { protectedResourceMetadata },
      scheme: { protectedResourceMetadata: { enabled: true, resource: 'urn:new', autoDeriveScopes: false } },
    });
    assert.deepEqual((await both.call('/.well-known/oauth-protected-resource')).body, {
      resource: 'urn:new',
      authorization_servers: [],
      bearer_methods_supported: ['header'],
    });
    assert.equal((await both.call('/about/tokens')).status, 400);
  });

  test('a configuration that cannot work is refused when the definition is written', async () => {
    const provider = {
      name: 'a',
      tokenEndpoint: 'https://a.example/token',
      clientAuth: { clientId: 'me' },
      issuers: ['i'],
    };
    const exchange = (...providers: object[]) => ({ tokenExchange: { enabled: true, providers } });
    for (const [scheme, message] of [
      [{ protectedResourceMetadata: { enabled: true } }, /protectedResourceMetadata\.resource: is required/],
      [exchange(), /providers: must have at least one item/],
      [exchange(provider, { ...provider, issuers: [] }), /providers\[1\]\.name: is not unique/],
      [exchange(provider, { ...provider, name: 'b' }), /providers\[1\]\.issuers: i belongs to another provider/],
      [exchange({ ...provider, tokenEndpoint: '/token' }), /tokenEndpoint: must be an absolute http or https address/],
      [exchange({ ...provider, clientAuth: {} }), /clientAuth\.clientId: is required/],
      [exchange({ ...provider, clientAuth: { clientId: 'me', method: 'private_key_jwt' } }), /certId: is required/],
      [exchange({ ...provider, customParams: { scope: 'x' } }), /customParams: scope is written by the gateway/],
      [exchange({ ...provider, issuers: ['regex:('] }), /issuers: is not a valid regular expression/],
    ] as const) {
      const body = documentOf(upstream, `o${createPublicId()}`, 'none', { scheme });
      const { status, text } = await app().ask('POST', '/gw/apis/oas', { body });
      assert.equal(status, 400, text);
      assert.match(text, message);
    }
  });
});
