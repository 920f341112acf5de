import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { openApi, publish, waitUntilApplied } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { call, statusesIn } from './raw.ts';

const twofold = '{\n    "error": "The path can be read in two ways"\n}';

async function ask(url: string, headers: Record<string, string> = {}) {
  const reply = await fetch(url, { headers });
  const text = await reply.text();
  return { status: reply.status, text, reached: reply.status === 200 ? (JSON.parse(text).url as string) : undefined };
}

const versionData = (extended_paths: object) => ({
  version_data: {
    not_versioned: true,
    versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths } },
  },
});

describe('Path parameters (;name=value)', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite', { settings: { 'log.level': 'error' } }), startUpstream()]);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });

  const checkRefusal = async (url: string, headers?: Record<string, string>) => {
    const { status, text } = await ask(url, headers);
    assert.deepEqual([status, text], [400, twofold], url);
  };

  test('without path rules they reach the upstream unchanged', async () => {
    const url = await publish(app, openApi(upstream));
    for (const path of ['/cars;color=red/7', '/map/;point=50,100', '/a%3Bb', '/a;'])
      assert.equal((await ask(url + path)).reached, path);
  });

  test('they pass where path rules decide the same with and without them, and get 400 elsewhere', async () => {
    const lists = { white_list: ['/files/{name}', '/shop'].map(path => ({ path, method: 'GET' })) };
    const url = await publish(app, openApi(upstream, versionData(lists)));
    assert.equal((await ask(`${url}/files/a;b=1`)).reached, '/files/a;b=1');
    for (const path of ['/shop;x', '/shop%3bx', '/files/;x', '/files/a/;x', '/;x/shop']) await checkRefusal(url + path);
    const closed = await publish(
      app,
      openApi(upstream, versionData({ black_list: [{ path: '/admin', method: 'GET' }] })),
    );
    for (const path of ['/admin;x=1', '/admin;', '/admin%3B', '/admin;a/', '/;/admin'])
      await checkRefusal(closed + path);
    assert.equal((await ask(`${closed}/other;x=1`)).reached, '/other;x=1');
    assert.equal((await fetch(`${closed}/admin/..;/x`)).status, 400);
  });

  test('path rules of an OpenAPI definition decide in the same way', async () => {
    const id = createPublicId();
    const document = {
      openapi: '3.0.3',
      info: { title: 'Matrix', version: '1' },
      paths: { '/admin': { get: { operationId: 'admin', responses: {} } } },
      'x-gw-api-gateway': {
        info: { id, name: 'Matrix', state: { active: true } },
        server: { listenPath: { value: `/${id}`, strip: true } },
        upstream: { url: upstream.url },
        middleware: { operations: { admin: { block: { enabled: true } } } },
      },
    };
    assert.equal((await app.ask('POST', '/gw/apis/oas', { body: document })).status, 200);
    await waitUntilApplied(app);
    await checkRefusal(`${app.url.gateway}/${id}/admin;x`);
    assert.equal((await ask(`${app.url.gateway}/${id}/b;x`)).reached, '/b;x');
  });

  test('they do not route to another API than the path without them', async () => {
    const guarded = createPublicId();
    const proxy = { strip_listen_path: false };
    await publish(app, openApi(upstream, { domain: 'two.test', proxy: { ...proxy, listen_path: '/' } }));
    await publish(
      app,
      openApi(upstream, {
        domain: 'two.test',
        use_keyless: false,
        use_standard_auth: true,
        proxy: { ...proxy, listen_path: `/${guarded}` },
      }),
    );
    const port = Number(new URL(app.url.gateway).port);
    const status = async (path: string) => {
      const one = await call(port);
      one.send(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: two.test\r\nConnection: close\r\n\r\n`));
      await one.closed;
      one.leave();
      return statusesIn(one.received())[0];
    };
    assert.equal(await status('/free'), 200);
    assert.equal(await status('/free;x'), 200);
    assert.equal(await status(`/${guarded}/x`), 401);
    assert.equal(await status(`/${guarded};a/x`), 400);
    assert.equal(await status(`/;a/${guarded}/x`), 400);
  });

  test('they do not select another version than the path without them', async () => {
    const versions = {
      v1: { name: 'v1', use_extended_paths: true, extended_paths: { black_list: [{ path: '/x', method: 'GET' }] } },
      v2: { name: 'v2' },
    };
    const definition = openApi(upstream, {
      definition: { location: 'url', fallback_to_default: true },
      version_data: { not_versioned: false, default_version: 'v2', versions },
    });
    const url = await publish(app, definition);
    assert.equal((await ask(`${url}/v1/x`)).status, 403);
    assert.equal((await ask(`${url}/other;a/x`)).status, 200);
    await checkRefusal(`${url}/v1;a/x`);
  });

  test('allowed URLs and endpoint rate limits of a key apply with and without them', async () => {
    const definition = openApi(upstream, { use_keyless: false, use_standard_auth: true });
    const url = await publish(app, definition);
    const { api_id } = definition;
    const createKey = async (right: object) => {
      const rights = { [api_id]: { api_id, api_name: 'Test', versions: ['Default'], ...right } };
      const { body, text } = await app.ask('POST', '/api/keys', { body: { access_rights: rights } });
      assert.ok(body.key_id, text);
      return { authorization: body.key_id as string };
    };
    const some = await createKey({ allowed_urls: [{ url: '/items/{id}', methods: ['GET'] }] });
    assert.equal((await ask(`${url}/items/7;x`, some)).reached, '/items/7;x');
    assert.equal((await ask(`${url}/items/;x`, some)).status, 403);
    const seldom = await createKey({
      endpoints: [{ path: '/dear', methods: [{ name: 'GET', limit: { rate: 1, per: 3600 } }] }],
    });
    assert.equal((await ask(`${url}/dear`, seldom)).status, 200);
    assert.equal((await ask(`${url}/dear;x`, seldom)).status, 429);
  });

  test('a path beyond the length limit gets 414', async () => {
    const url = await publish(app, openApi(upstream));
    assert.equal((await ask(`${url}/${'a'.repeat(9000)}`)).status, 414);
  });
});

for (const [word, status] of [
  ['pass', 200],
  ['refuse', 400],
] as const)
  test(`gateway.path_parameters=${word} returns ${status} for every path with parameters`, async () => {
    const settings = { 'log.level': 'error', 'gateway.path_parameters': word };
    const [app, upstream] = await Promise.all([startApp('sqlite', { settings }), startUpstream()]);
    try {
      const url = await publish(app, openApi(upstream, versionData({ black_list: [{ path: '/a', method: 'GET' }] })));
      assert.equal((await ask(`${url}/a;x`)).status, status);
      assert.equal((await ask(`${url}/b;x`)).status, status);
      assert.equal((await ask(`${url}/b`)).status, 200);
    } finally {
      await Promise.all([app.close(), upstream.close()]);
    }
  });
