import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { publishBoth } from './support/both-formats.ts';
import { findUnavailableReason, openApi, publish } from './support/traffic.ts';
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
