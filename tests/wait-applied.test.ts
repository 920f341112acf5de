import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { createPublicId, createSecretText } from '#base/ids.ts';
import type { AnyOperation } from '#operations/operation.ts';
import { catalogue } from '../src/catalogue.ts';
import { onEveryEngine, rememberSecrets, startApp } from './support/app.ts';
import { type Child, scratch, startChild } from './support/gw-process.ts';
import { testPostgres } from './support/services/engines.ts';
import { openApi } from './support/traffic.ts';
import { eventually, startUpstream, type Upstream } from './support/upstream.ts';

/** `?wait=applied`: the response to a write is sent once the data plane serves it. */

const formType = 'application/x-www-form-urlencoded';

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

    test('operations that change nothing in the data plane refuse it, public ones too', async () => {
      const refused = (catalogue as readonly AnyOperation[]).filter(it => !it.changesTraffic);
      for (const { name, method, path, accepts, body: schema } of refused) {
        const url = `${path.replaceAll(/\{[\w-]+\}/g, 'unknown')}?wait=applied`;
        const type =
          typeof accepts === 'object' ? accepts.only[0]! : accepts === 'form' ? formType : 'application/json';
        const { status, text } = await app().ask(
          method,
          url,
          schema ? { body: '{}', headers: { 'content-type': type } } : {},
        );
        assert.deepEqual([status, /leave out wait/.test(text)], [400, true], `${name}: ${status} ${text}`);
      }
      const accepting = (catalogue as readonly AnyOperation[]).filter(it => it.changesTraffic);
      assert.deepEqual(
        accepting.filter(it => it.method === 'GET' || it.permission === 'public').map(it => it.name),
        [],
      );
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

  test('waits for the gateways on its database, and names those that serve an earlier revision', async () => {
    const app = await startApp('postgres', { settings: { role: 'dashboard', 'keys.allow_master_keys': 'true' } });
    try {
      const { nodes } = app.application.installation.services;
      const write = async (more: object = {}) =>
        (await app.ask('POST', '/api/keys?wait=applied', { body: {}, ...more })).headers;
      const traffic = { threads: 1, running: 1, restarts: 0, loadedAtMs: 1 };
      const node = (id: string, revision: number) => ({
        ...{ id, hostname: 'edge', pid: 1, role: 'gateway', version: '1', nodeVersion: '1', residentBytes: 1 },
        ...{ startedAtMs: 1, heartbeatAtMs: Date.now() + 60_000, segments: [], traffic: { ...traffic, revision } },
      });
      await nodes.put(node('one', 1_000_000));
      assert.equal((await write()).get('x-gw-applied'), 'true');
      await nodes.put(node('two', 0));
      const rights = { org_id: app.credentials.organisation_id, user_permissions: { keys: 'write' } };
      const { body: user } = await app.ask('POST', '/admin/users', { body: { ...person(), ...rights } });
      // Processes are read at most every 100 ms: a write may still see the earlier list.
      await eventually(async () => {
        const [headers, counted] = await Promise.all([write(), write({ credential: user.Message })]);
        assert.equal(headers.get('x-gw-applied'), 'false');
        assert.match(headers.get('x-gw-not-applied') ?? '', /^process two on edge: serves revision 0 of \d+$/);
        assert.equal(counted.get('x-gw-not-applied'), 'other processes of the installation: 1');
      });
      const { body: reloaded } = await app.ask('POST', '/api/system/reload');
      assert.deepEqual([reloaded.processes, reloaded.applied], [2, 1]);
      assert.match(reloaded.not_applied.join(), /^process two on edge: serves revision 0 of \d+$/);
    } finally {
      await app.close();
    }
  });

  test('a thread that does not respond is named to the operator, and the write stays; no more writes wait than may', async () => {
    const threadProgram = new URL('./support/deaf-thread.ts', import.meta.url);
    const settings = { 'keys.allow_master_keys': 'true', 'management.max_waiting_writes': '1' };
    const app = await startApp('sqlite', { threadProgram, settings });
    try {
      const waiting = app.ask('POST', '/api/keys?wait=applied', { body: { alias: 'kept' } });
      const countKeys = async () => (await app.ask('GET', '/api/keys/detailed?p=-1')).body.keys.length;
      await eventually(async () => assert.equal(await countKeys(), 1));
      const refused = await app.ask('POST', '/api/keys?wait=applied', { body: {} });
      assert.deepEqual([refused.status, await countKeys()], [429, 1], refused.text);
      const { orgId: _other, accessKey } = await app.stranger();
      const foreign = await app.ask('DELETE', '/api/apis/unknown?wait=applied', { credential: accessKey });
      assert.equal(foreign.status, 404, foreign.text);
      const counted = 'traffic threads of this process: 1';
      const { accessKey: credential } = await app.stranger();
      const [reloaded, written] = await Promise.all([
        app.ask('POST', '/api/system/reload', { credential: accessKey }),
        app.ask('POST', '/api/keys?wait=applied', { credential, body: {} }),
      ]);
      assert.deepEqual(reloaded.body, { processes: 1, applied: 0, not_applied: [counted] });
      assert.equal(written.headers.get('x-gw-not-applied'), counted);
      const { status, headers, body } = await waiting;
      assert.deepEqual([status, headers.get('x-gw-applied')], [200, 'false']);
      assert.match(headers.get('x-gw-not-applied') ?? '', /thread \d+ of this process: .*did not respond/);
      assert.equal((await app.ask('GET', `/api/keys/${body.key_id}`)).status, 200);
      const { status: after } = await app.ask('DELETE', '/api/apis/unknown?wait=applied');
      assert.equal(after, 404);
    } finally {
      await app.close();
    }
  });
});

const person = () => {
  const email_address = `u${createPublicId()}@example.org`;
  return { email_address, first_name: 'A', last_name: 'B', active: true };
};

describe('Several processes on one database', () => {
  const { fresh, remove } = scratch('wait-applied');
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(async () => {
    await remove();
    await upstream?.close();
  });

  async function addTenant(child: Child): Promise<string> {
    const { body: made } = await child.ask('POST', '/admin/organisations', { body: { owner_name: 'Tenant' } });
    const { body: user } = await child.ask('POST', '/admin/users', { body: { ...person(), org_id: made.Meta } });
    rememberSecrets({ tenant: user.Message });
    return user.Message;
  }

  test('a write that waits is served by all of them, and names one that does not respond, to the operator only', {
    timeout: 300_000,
  }, async () => {
    const database = await testPostgres();
    const environment = { GW_DATABASE_URL: database.url, GW_MASTER_KEY: createSecretText() };
    const [one, two] = [
      await startChild({ directory: fresh(), environment: { ...environment, GW_NODE_ID: 'one' } }),
      await startChild({ directory: fresh(), environment: { ...environment, GW_NODE_ID: 'two' } }),
    ];
    const credential = await addTenant(one);
    const listNodes = async () => (await one.ask('GET', '/api/system/nodes')).body.data.nodes;
    await eventually(async () => assert.equal((await listNodes()).length, 2));
    const create = (asked: object = {}) => {
      const definition = openApi(upstream);
      const body = { api_definition: definition };
      const response = one.ask('POST', '/api/apis?wait=applied', { body, ...asked });
      return { response, url: two.urls.gateway + definition.proxy.listen_path };
    };
    const createApplied = () =>
      eventually(async () => {
        const { response, url } = create();
        assert.equal((await response).headers.get('x-gw-applied'), 'true', (await response).text);
        return url;
      });
    for (let round = 0; round < 2; round++) assert.equal((await fetch(await createApplied())).status, 200);

    two.process.kill('SIGSTOP');
    const [named, counted] = [create(), create({ credential })];
    const [toOperator, toTenant] = [(await named.response).headers, (await counted.response).headers];
    const [, rest] = (toOperator.get('x-gw-not-applied') ?? '').split(`process two on ${hostname()}: `);
    assert.match(rest ?? '', /^serves revision \d+ of \d+$/);
    assert.equal(toTenant.get('x-gw-not-applied'), 'other processes of the installation: 1');
    for (const headers of [toOperator, toTenant]) assert.equal(headers.get('x-gw-applied'), 'false');
    two.process.kill('SIGCONT');
    assert.equal((await fetch(await createApplied())).status, 200);

    assert.equal((await two.stop()).code, 0);
    assert.deepEqual(
      (await listNodes()).map(({ id, state }: { id: string; state: string }) => [id, state]),
      [['one', 'running']],
    );
    await one.stop();
    await database.drop();
  });
});
