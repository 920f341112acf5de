import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Problem } from '#base/problems.ts';
import { runMigrateCommand } from '#cli/migrate/migrate-command.ts';
import { startApp, type TestApp } from './support/app.ts';
import { waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

describe('migrated reverse proxies', () => {
  let app: TestApp;
  let upstream: Upstream;
  const folder = mkdtempSync(join(tmpdir(), 'gw-proxies-'));
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite'), startUpstream()]);
  });
  after(async () => {
    await Promise.all([app?.close(), upstream?.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  async function migrate(product: string, name: string, text: string): Promise<{ served: unknown[]; text: string }> {
    const path = join(folder, name);
    writeFileSync(path, text);
    let printed = '';
    const print = (part: string) => {
      printed += part;
    };
    try {
      await runMigrateCommand([product, path, '-o', 'json'], { environment: { GW_DATA_DIR: app.directory }, print });
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'cli.partly_migrated') throw error;
    }
    await waitUntilApplied(app);
    return { ...JSON.parse(printed), text: printed };
  }

  const send = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(app.url.gateway + path, init);
    const text = await response.text();
    return { status: response.status, url: response.ok ? JSON.parse(text).url : undefined, text };
  };

  test('Kong: a route keeps its methods, its keys and its groups', async () => {
    const { served, text } = await migrate(
      'kong',
      'kong.yaml',
      `_format_version: "3.0"
services:
- name: orders
  url: ${upstream.url}/v1
  routes: [{ name: orders, paths: [/kong-orders/], methods: [GET] }]
  plugins:
  - { name: key-auth, config: { key_names: [X-Key] } }
  - { name: acl, config: { allow: [staff] } }
- name: open
  url: ${upstream.url}
  routes: [{ name: open, paths: [/kong-open/], strip_path: false }]
consumers:
- { username: ann, acls: [{ group: staff }], keyauth_credentials: [{ key: ann-secret-key }] }
- { username: bob, keyauth_credentials: [{ key: bob-secret-key }] }
`,
    );
    assert.equal(served.length, 3, text);
    const headers = { 'x-key': 'ann-secret-key' };
    assert.deepEqual(await send('/kong-orders/7?a=1', { headers }).then(it => [it.status, it.url]), [200, '/v1/7?a=1']);
    assert.equal((await send('/kong-orders/7', { method: 'POST', headers })).status, 403);
    assert.equal((await send('/kong-orders/7')).status, 401);
    assert.equal((await send('/kong-orders/7', { headers: { 'x-key': 'bob-secret-key' } })).status, 403);
    assert.equal((await send('/kong-open/x', { method: 'POST' })).url, '/kong-open/x');
  });

  test('KrakenD: an endpoint is rewritten to its backend, for its methods only', async () => {
    const { served, text } = await migrate(
      'krakend',
      'krakend.json',
      JSON.stringify({
        version: 3,
        endpoints: [
          {
            endpoint: '/kd/users/{id}/{part}',
            backend: [{ host: [upstream.url], url_pattern: '/people/{part}/{id}.json' }],
          },
          { endpoint: '/kd/plain', method: 'POST', backend: [{ host: [upstream.url], url_pattern: '/kd/plain' }] },
        ],
      }),
    );
    assert.equal(served.length, 2, text);
    assert.deepEqual(await send('/kd/users/7/name').then(it => [it.status, it.url]), [200, '/people/name/7.json']);
    assert.equal((await send('/kd/users/7/name', { method: 'DELETE' })).status, 403);
    assert.deepEqual(await send('/kd/plain', { method: 'POST' }).then(it => [it.status, it.url]), [200, '/kd/plain']);
    assert.equal((await send('/kd/plain')).status, 403);
  });

  test('nginx: a location is stripped where proxy_pass has a path, and kept where it has none', async () => {
    const { served, text } = await migrate(
      'nginx',
      'site.conf',
      `upstream app { server ${new URL(upstream.url).host}; }
server {
  listen 80;
  location /ng-strip/ { proxy_pass http://app/base/; add_header X-Served yes; }
  location /ng-keep/ { proxy_pass http://app; }
  location /ng-closed/ { proxy_pass http://app; allow 192.0.2.1; deny all; }
}`,
    );
    assert.equal(served.length, 3, text);
    assert.equal((await send('/ng-strip/a')).url, '/base/a');
    assert.equal((await fetch(`${app.url.gateway}/ng-strip/a`)).headers.get('x-served'), 'yes');
    assert.equal((await send('/ng-keep/a')).url, '/ng-keep/a');
    assert.equal((await send('/ng-closed/a')).status, 403);
  });
});
