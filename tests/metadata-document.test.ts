import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { startApp, type TestApp } from './support/app.ts';
import { publishBoth } from './support/both-formats.ts';
import { makeAuthority, makeServerCertificate } from './support/certificates.ts';
import { findUnavailableReason, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

describe('Protected resource metadata', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite'), startUpstream()]);
  });
  after(async () => {
    await app.close();
    await upstream.close();
  });
  const publishGuarded = (more: object) =>
    publishBoth(app, upstream, {
      classic: {},
      oas: {
        server: {
          authentication: {
            enabled: true,
            protectedResourceMetadata: {
              enabled: true,
              resource: 'https://api.example.org',
              authorizationServers: ['https://id.example.org'],
              scopesSupported: ['read', 'write'],
              ...more,
            },
          },
        },
      },
    });

  test('it is served without a key at the path of the definition', async () => {
    for (const [more, path] of [
      [{}, '/.well-known/oauth-protected-resource'],
      [{ wellKnownPath: '/about' }, '/about'],
    ] as const) {
      const url = (await publishGuarded(more))[1]!.url;
      const reply = await fetch(url + path);
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'application/json']);
      assert.deepEqual(await reply.json(), {
        resource: 'https://api.example.org',
        authorization_servers: ['https://id.example.org'],
        scopes_supported: ['read', 'write'],
        bearer_methods_supported: ['header'],
      });
      assert.equal((await fetch(url + path, { method: 'POST' })).status, 405);
      assert.equal((await fetch(`${url}/other`)).status, 401);
    }
  });

  const elsewhere: Record<string, [asked: object, what: string]> = {
    'keys in a directory': [{ auth_provider: { name: 'x', storage_engine: 'ldap', meta: {} } }, 'keys in other stores'],
    'sessions of another process': [{ session_provider: { storage_engine: 'rpc' } }, 'keys in other stores'],
    'another protocol inside HTTP': [{ application_protocol: 'mcp' }, 'protocols inside HTTP in the classic format'],
  };
  for (const [name, [asked, what]] of Object.entries(elsewhere))
    test(`an API that requires ${name} is not served without it`, async () => {
      const url = await publish(app, openApi(upstream, { ...asked }));
      assert.equal(await findUnavailableReason(app, `${url}/x`), `the gateway does not offer ${what}`);
    });

  test('the built-in store may be named', async () => {
    const url = await publish(app, openApi(upstream, { auth_provider: { storage_engine: 'redis' } }));
    assert.equal((await fetch(`${url}/x`)).status, 200);
  });
});

describe('Protected resource metadata of MCP proxies', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    [app, upstream] = await Promise.all([
      startApp('sqlite', { settings: { 'gateway.trusted_proxies': '127.0.0.1' } }),
      startUpstream(),
    ]);
  });
  after(async () => {
    await app.close();
    await upstream.close();
  });

  const wellKnown = '/.well-known/oauth-protected-resource';
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const post = (url: string, headers: Record<string, string> = {}) =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: message });

  const create = async (metadata: object, { url = `${upstream.url}/mcp`, guarded = false, tlsTransport = {} } = {}) => {
    const path = `/${createPublicId()}/`;
    const authToken = { type: 'apiKey', in: 'header', name: 'Authorization' };
    const schemes = guarded ? { securitySchemes: { authToken: { enabled: true } } } : {};
    const made = await app.ask('POST', '/api/mcps', {
      body: {
        openapi: '3.0.3',
        info: { title: 'Tools', version: '1' },
        paths: {},
        ...(guarded && { components: { securitySchemes: { authToken } }, security: [{ authToken: [] }] }),
        'x-gw-api-gateway': {
          info: { name: path, state: { active: true } },
          server: {
            listenPath: { value: path, strip: true },
            authentication: { enabled: guarded, protectedResourceMetadata: { enabled: true, ...metadata }, ...schemes },
          },
          upstream: { url, tlsTransport },
        },
      },
    });
    await waitUntilApplied(app);
    return { ...made, url: `${app.url.gateway}${path.slice(0, -1)}` };
  };

  /** Serves a document at one path, and the challenge of the MCP server elsewhere. */
  const serveDocument = (path: string, document: unknown) => {
    let reads = 0;
    upstream.answer = (request, response) => {
      if (request.url === path) {
        reads++;
        return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
      }
      if (request.method === 'GET') return response.writeHead(404).end();
      const challenge = `Bearer error="invalid_token", resource_metadata="${upstream.url}${path}"`;
      return response.writeHead(401, { 'www-authenticate': challenge }).end();
    };
    return () => reads;
  };
  const document = {
    resource: 'https://inside.example/mcp',
    authorization_servers: ['https://id.example.org'],
    scopes_supported: ['tools'],
    signed_metadata: 'a.b.c',
  };

  test('without fields of its own, the document of the upstream is served with the URL of the gateway', async () => {
    for (const path of [`${wellKnown}/mcp`, wellKnown]) {
      const countReads = serveDocument(path, document);
      const { url } = await create({});
      const replies = await Promise.all([1, 2, 3].map(() => fetch(url + wellKnown)));
      const [reply] = replies;
      assert.deepEqual([reply!.status, reply!.headers.get('cache-control')], [200, 'no-store']);
      const { signed_metadata, ...plain } = document;
      assert.deepEqual(await reply!.json(), { ...plain, resource: url });
      assert.ok(countReads() <= 2, 'each thread reads the document once');
      const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'api.example' };
      const behindProxy = (await (await fetch(url + wellKnown, { headers: forwarded })).json()) as typeof document;
      assert.equal(behindProxy.resource, `https://api.example${new URL(url).pathname}`);
    }
  });

  test('the document of an upstream is read with the certificate authorities of the definition', async () => {
    const authority = makeAuthority('Private');
    const { certPem: cert, keyPem: key } = makeServerCertificate(authority);
    const secure = createServer({ cert, key }, (_request, response) => response.end(JSON.stringify(document)));
    await new Promise<void>(resolve => secure.listen(0, '127.0.0.1', resolve));
    try {
      const { body } = await app.ask('POST', '/api/certs', { body: authority.certPem });
      const url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}/mcp`;
      const trusted = await create({}, { url, tlsTransport: { caCertificates: [body.id] } });
      const reply = await fetch(trusted.url + wellKnown);
      assert.equal(reply.status, 200);
      assert.equal(((await reply.json()) as typeof document).resource, trusted.url);
      const strict = await create({}, { url });
      assert.equal((await fetch(strict.url + wellKnown)).status, 502);
    } finally {
      secure.close();
    }
  });

  test('the challenge of the upstream names the document of the gateway', async () => {
    serveDocument(`${wellKnown}/mcp`, document);
    const { url } = await create({});
    const reply = await post(`${url}/`);
    assert.equal(reply.status, 401);
    assert.equal(
      reply.headers.get('www-authenticate'),
      `Bearer error="invalid_token", resource_metadata="${url}${wellKnown}"`,
    );
  });

  test('a 401 response of the gateway names the document, unless its resource is no URL', async () => {
    serveDocument(`${wellKnown}/mcp`, document);
    const mirrored = await create({}, { guarded: true });
    const reply = await post(`${mirrored.url}/`);
    assert.equal(reply.status, 401);
    assert.equal(reply.headers.get('www-authenticate'), `Bearer resource_metadata="${mirrored.url}${wellKnown}"`);
    const own = { resource: 'https://api.example/tools', authorizationServers: ['https://id.example'] };
    const written = await create(own, { guarded: true });
    assert.equal(
      (await post(`${written.url}/`)).headers.get('www-authenticate'),
      `Bearer resource_metadata="https://api.example/tools${wellKnown}"`,
    );
    const other = await create({ ...own, resource: 'urn:tools' }, { guarded: true });
    assert.equal((await post(`${other.url}/`)).headers.get('www-authenticate'), null);
  });

  test('an upstream without a usable document gets 502', async () => {
    for (const broken of ['no object', {}, { resource: 1 }]) {
      serveDocument(wellKnown, broken);
      const { url } = await create({});
      const reply = await fetch(url + wellKnown);
      assert.equal(reply.status, 502, JSON.stringify(broken));
      assert.match(await reply.text(), /The metadata of the MCP server are not available/);
    }
    upstream.answer = (_request, response) => response.writeHead(500).end();
    assert.equal((await fetch((await create({})).url + wellKnown)).status, 502);
    upstream.answer = undefined;
  });

  test('fields of its own must be complete, and a loop has no document to serve', async () => {
    for (const [metadata, url, message] of [
      [{ resource: 'https://a.example' }, undefined, /authorizationServers: must have at least one item/],
      [{ authorizationServers: ['https://id.example'] }, undefined, /resource: is required/],
      [{ scopesSupported: ['tools'] }, undefined, /resource: is required/],
      [{}, 'gw://orders/mcp', /resource: is required: a loop has no metadata of its own/],
    ] as const) {
      const { status, text } = await create(metadata, url === undefined ? {} : { url });
      assert.equal(status, 400, text);
      assert.match(text, message);
    }
  });
});
