import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingNames } from '#base/settings.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addPerson } from '../../../tests/support/browser.ts';
import { onEverySharedEngine } from '../../../tests/support/shared-app.ts';

onEverySharedEngine('schemas', app => {
  const read = (path: string) => app().ask('GET', path);

  test('the JSON Schemas of documents are published, indented on request', async () => {
    const { status, body, text } = await read('/api/schemas/apidefs/oas');
    assert.equal(status, 200);
    assert.deepEqual([body.status, body.message], ['ok', '']);
    assert.equal(body.schema.title, 'OpenAPI-based API definition');
    assert.ok(body.schema.properties['x-gw-api-gateway']);
    assert.deepEqual((await read('/api/schema')).body, body);
    const streams = (await read('/api/schemas/apidefs/streams-oas')).body.schema;
    assert.ok(streams.properties['x-gw-streaming']);
    const all = (await read('/api/schemas/apidefs?oasVersion=3.1')).body.schemas;
    const mcp = (await read('/api/schemas/apidefs/mcp')).body;
    assert.deepEqual(all, { oas: body.schema, streamsOAS: streams, mcp });
    const classic = (await read('/api/schemas/apidefs/classic')).body.schema;
    assert.equal(classic.title, 'Classic API definition');
    assert.ok(classic.properties.proxy);
    assert.doesNotMatch(text, /\n/);
    assert.match((await read('/api/schemas/apidefs/oas?pretty=true')).text, /^\{\n {2}"status": "ok",/);
  });

  test('a schema of an unknown OpenAPI version is not found', async () => {
    const documents = ['oas', 'classic', 'streams-oas'].map(name => `schemas/apidefs/${name}`);
    for (const path of ['schema', 'schemas/apidefs', ...documents]) {
      const { status, body } = await read(`/api/${path}?oasVersion=2.0`);
      assert.deepEqual([status, body.Message], [404, 'Schema not found for version "2.0"']);
    }
  });
});

onEveryEngine('reload', app => {
  test('the admin secret can be checked without a change', async () => {
    assert.deepEqual((await app().ask('GET', '/admin/hello')).body, { status: 'ok' });
    assert.equal((await app().ask('GET', '/admin/hello', { credential: 'wrong' })).status, 401);
  });

  test('a reload by the operator returns once committed changes are served', async () => {
    const listen_path = '/reloaded/';
    const proxy = { listen_path, target_url: 'http://127.0.0.1:9/' };
    const api_definition = { name: 'reloaded', use_keyless: true, proxy };
    assert.equal((await app().ask('POST', '/api/apis', { body: { api_definition } })).status, 200);
    assert.deepEqual((await app().ask('GET', '/admin/system/reload')).body, { status: 'ok' });
    assert.notEqual((await fetch(app().url.gateway + listen_path)).status, 404);
  });

  test('a reload by an administrator says on how many processes it took effect, and is audited', async () => {
    const listen_path = '/reloaded-here/';
    const proxy = { listen_path, target_url: 'http://127.0.0.1:9/' };
    const api_definition = { name: 'reloaded here', use_keyless: true, proxy };
    assert.equal((await app().ask('POST', '/api/apis', { body: { api_definition } })).status, 200);
    const { status, body } = await app().ask('POST', '/api/system/reload');
    assert.deepEqual([status, body], [200, { processes: 1, applied: 1, not_applied: [] }]);
    assert.notEqual((await fetch(app().url.gateway + listen_path)).status, 404);
    const { audit_logs } = (await app().ask('GET', '/api/audit-logs?action=reloadTraffic')).body;
    assert.deepEqual([audit_logs.length, audit_logs[0].status], [1, 200]);
    const { accessKey: credential } = await addPerson(app(), { user_permissions: { system: 'write' } });
    assert.equal((await app().ask('POST', '/api/system/reload', { credential })).status, 403);
  });
});

onEveryEngine(
  'settings',
  app => {
    const list = async (query: string, credential?: string) =>
      (await app().ask('GET', `/api/system/settings?${query}`, credential === undefined ? {} : { credential })).body
        .settings;

    test('settings are listed with value, default, source and meaning, and found by name or meaning', async () => {
      const all = await list('');
      assert.deepEqual(
        all.map(({ name }: { name: string }) => name),
        [...settingNames],
      );
      const [threads] = await list('q=THREADS&changed=1');
      assert.deepEqual([threads.name, threads.value, threads.source], ['threads', 1, 'flag']);
      const found = await list('q=tenants.grants');
      assert.ok(found.some(({ name }: { name: string }) => name === 'tenants.grants'));
      const byMeaning = await list('q=collector%20of%20traces');
      assert.ok(byMeaning.some(({ name }: { name: string }) => name === 'tracing.headers'));
      const [unset] = await list('q=bootstrap.email');
      assert.deepEqual(
        [unset.value, unset.default, unset.source],
        ['admin@example.org', 'admin@example.org', 'default'],
      );
      assert.deepEqual(await list('q=no-such-setting'), []);
    });

    test('secrets are masked, and a user of another organisation gets no setting', async () => {
      const smtp = (await list('q=mail.smtp_url')).find(({ name }: { name: string }) => name === 'mail.smtp_url');
      assert.deepEqual([smtp.value, smtp.source], ['********', 'flag']);
      assert.doesNotMatch(JSON.stringify(await list('')), /canary-/);
      assert.deepEqual(await list('', (await app().stranger()).accessKey), []);
    });
  },
  {
    settings: {
      'mail.smtp_url': 'smtp://user:canary-password@127.0.0.1:9',
      'mail.from': 'gw@example.org',
    },
  },
);
