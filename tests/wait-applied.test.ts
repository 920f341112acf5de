import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { onEveryEngine, startApp } from './support/app.ts';
import { openApi } from './support/traffic.ts';
import { startUpstream } from './support/upstream.ts';

/** `?wait=applied`: the response to a write is sent once the data plane serves it. */

onEveryEngine(
  'Writes that wait until they are applied',
  app => {
    test('each thread serves a new, changed and deleted API as soon as the write is answered', async () => {
      const upstream = await startUpstream();
      try {
        const definition = openApi(upstream);
        const call = async () =>
          new Set(
            await Promise.all(
              Array.from({ length: 12 }, async () => {
                const url = app().url.gateway + definition.proxy.listen_path;
                return (await fetch(url, { headers: { connection: 'close' } })).status;
              }),
            ),
          );
        const created = await app().ask('POST', '/api/apis?wait=applied', { body: { api_definition: definition } });
        assert.deepEqual([created.status, created.headers.get('x-gw-applied')], [200, 'true'], created.text);
        assert.deepEqual(await call(), new Set([200]));
        const deleted = await app().ask('DELETE', `/api/apis/${created.body.ID}?wait=applied`);
        assert.equal(deleted.headers.get('x-gw-applied'), 'true');
        assert.deepEqual(await call(), new Set([404]));
      } finally {
        await upstream.close();
      }
    });

    test('a write without the parameter has no such header, and another value changes nothing', async () => {
      const plain = await app().ask('POST', '/api/keys', { body: {} });
      assert.equal(plain.headers.get('x-gw-applied'), null);
      const { body: before } = await app().ask('GET', '/api/keys/detailed?p=-1');
      const refused = await app().ask('POST', '/api/keys?wait=ever', { body: {} });
      assert.deepEqual([refused.status, /wait: must be applied/.test(refused.text)], [400, true]);
      const { body: after } = await app().ask('GET', '/api/keys/detailed?p=-1');
      assert.equal(after.keys.length, before.keys.length);
    });
  },
  { settings: { threads: '2', 'keys.allow_master_keys': 'true' } },
);

describe('A process without traffic threads', () => {
  test('is named by the response of a write that waits', async () => {
    const app = await startApp('sqlite', { settings: { role: 'dashboard', 'keys.allow_master_keys': 'true' } });
    try {
      const { status, headers } = await app.ask('POST', '/api/keys?wait=applied', { body: {} });
      assert.deepEqual([status, headers.get('x-gw-applied')], [200, 'false']);
      assert.match(headers.get('x-gw-not-applied') ?? '', /has no traffic threads/);
    } finally {
      await app.close();
    }
  });

  test('a thread that does not respond is named, and the write stays', async () => {
    const threadProgram = new URL('./support/deaf-thread.ts', import.meta.url);
    const app = await startApp('sqlite', { threadProgram, settings: { 'keys.allow_master_keys': 'true' } });
    try {
      const { status, headers, body } = await app.ask('POST', '/api/keys?wait=applied', { body: { alias: 'kept' } });
      assert.deepEqual([status, headers.get('x-gw-applied')], [200, 'false']);
      assert.match(headers.get('x-gw-not-applied') ?? '', /thread \d+ of this process: .*did not respond/);
      assert.equal((await app.ask('GET', `/api/keys/${body.key_id}`)).status, 200);
    } finally {
      await app.close();
    }
  });
});
