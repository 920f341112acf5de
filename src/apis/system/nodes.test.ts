import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import { createLog } from '#base/log.ts';
import { openSharedEngine } from '#storage/shared/engine.ts';
import { withRecords } from '../../../tests/lifecycle/databases.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { makeAuthority } from '../../../tests/support/certificates.ts';
import { eventually, type TestProcess, testInstallation } from '../../../tests/support/installation.ts';
import { startRedis } from '../../../tests/support/services/redis.ts';
import { jwkOf, mint, rsaPair, startPublisher } from '../../../tests/support/tokens.ts';
import { openApi, publish } from '../../../tests/support/traffic.ts';
import { startUpstream } from '../../../tests/support/upstream.ts';
import { startHeartbeat } from './heartbeat.ts';
import { createNodeStore, maxHeartbeatAgeMs, maxLostAgeMs, type SystemNode } from './node-store.ts';
import { createStatisticsStore } from './statistics-store.ts';
import { createStoreProbe } from './store-probe.ts';

const toNode = (id: string, heartbeatAtMs: number): SystemNode => ({
  ...{
    id,
    hostname: 'host',
    startedAtMs: 1,
    heartbeatAtMs,
    pid: 1,
    role: 'all',
    version: '1.0.0',
    nodeVersion: '26.0.0',
  },
  ...{ residentBytes: 1, segments: [] },
});

onEveryEngine('Nodes', app => {
  test('the list has this process with its threads, memory, versions and the revision that it serves', async () => {
    const api_definition = {
      ...{ name: `N ${createPublicId()}`, use_keyless: true },
      proxy: { listen_path: `/n${createPublicId()}/`, target_url: 'http://127.0.0.1:9/' },
    };
    assert.equal((await app().ask('POST', '/api/apis', { body: { api_definition } })).status, 200);
    await app().application.waitForDataPlane();
    const { status, body, text } = await app().ask('GET', '/api/system/nodes');
    assert.equal(status, 200, text);
    const { nodes, ...counts } = body.data;
    const { revision } = counts;
    assert.ok(revision > 0);
    assert.deepEqual(counts, {
      ...{ active_node_count: 1, nodes_available: -1, nodes_remaining: -1 },
      ...{ valid_until: '0001-01-01T00:00:00Z', revision },
      queues: [
        { name: 'webhooks', waiting: 0 },
        { name: 'portal_mails', waiting: 0 },
      ],
    });
    const [node] = nodes;
    assert.equal(node.records_dropped, 0);
    assert.ok(Number.isInteger(node.records_waiting));
    assert.equal(nodes.length, 1);
    assert.deepEqual([node.hostname, node.role, node.pid], [hostname(), 'all', process.pid]);
    assert.deepEqual([node.threads, node.threads_running, node.thread_restarts], [1, 1, 0]);
    assert.deepEqual([node.revision, node.node_version], [revision, process.versions.node]);
    assert.match(node.version, /^\d+\.\d+\.\d+/);
    assert.ok(node.resident_bytes > 1_000_000);
    assert.ok(Date.parse(node.last_reload) >= Date.parse(node.started_at));
    const one = await app().ask('GET', `/api/system/node/${node.id}/${node.hostname}`);
    assert.equal(one.status, 200, one.text);
    assert.deepEqual(one.body.data.db_app_conf_options, { node_is_segmented: false, tags: [] });
    assert.deepEqual([one.body.data.id, one.body.data.revision], [node.id, revision]);
  });

  test('the list has the request rate, event loop delay, latency of the database and clock skew of a process', async () => {
    const upstream = await startUpstream();
    try {
      const url = await publish(app(), openApi(upstream));
      for (let sent = 0; sent < 10; sent++) assert.equal((await fetch(url)).status, 200);
      await eventually(async () => {
        const { body, text } = await app().ask('GET', '/api/system/nodes');
        const [node] = body.data.nodes;
        assert.ok(node.requests_per_second > 0, text);
        assert.ok(node.event_loop_delay_ms > 0, text);
        assert.equal(node.stores.length, 1);
        const [{ name, state, latency_ms: latencyMs }] = node.stores;
        assert.deepEqual([name, state], ['database', 'available']);
        assert.ok(latencyMs > 0);
        assert.ok(Math.abs(node.clock_skew_ms) <= latencyMs + 1, text);
      });
    } finally {
      await upstream.close();
    }
  });

  test('the list has the number of mails that wait, and the age of the oldest', async () => {
    const { mails } = app().application.installation.services.portal;
    const createdAt = Date.UTC(2026, 0, 2);
    const mail = { Name: 'verify', To: 'a@example.org', State: 'waiting', Attempts: 0, Error: '' } as const;
    const times = { DueAt: Date.UTC(2100, 0, 1), UpdatedAt: createdAt };
    for (const CreatedAt of [createdAt + 1000, createdAt])
      assert.ok(await mails.add({ ...mail, ...times, CreatedAt, MessageID: createPublicId(), Sealed: '' }, 10));
    const { queues } = (await app().ask('GET', '/api/system/nodes')).body.data;
    assert.deepEqual(queues[1], { name: 'portal_mails', waiting: 2, oldest_at: '2026-01-02T00:00:00Z' });
  });

  test('the list has the key sets that requests used, with their keys and the last error', async () => {
    const [publisher, upstream, pair] = [await startPublisher(), await startUpstream(), rsaPair()];
    try {
      publisher.pages['/jwks'] = { keys: [jwkOf(pair.publicKey, { kid: 'one' })] };
      for (const path of ['/jwks', '/none']) {
        const jwt = {
          use_keyless: false,
          enable_jwt: true,
          jwt_signing_method: 'rsa',
          jwt_source: publisher.url + path,
        };
        const url = await publish(app(), openApi(upstream, jwt));
        const token = mint({ sub: 'ann' }, pair.privateKey, { header: { kid: 'one' } });
        await fetch(url, { headers: { authorization: `Bearer ${token}` } });
      }
      await eventually(async () => {
        const [node] = (await app().ask('GET', '/api/system/nodes')).body.data.nodes;
        const [failed, fetched, ...more] = node.key_sets ?? [];
        assert.deepEqual(more, []);
        assert.deepEqual([failed?.source, failed?.keys, failed?.loaded_at], [`${publisher.url}/none`, 0, undefined]);
        assert.match(failed.error, /status 503/);
        const { loaded_at, ...rest } = fetched;
        assert.deepEqual(rest, { kind: 'url', source: `${publisher.url}/jwks`, keys: 1 });
        assert.ok(Math.abs(Date.parse(loaded_at) - Date.now()) < 60_000);
      });
    } finally {
      await publisher.close();
      await upstream.close();
    }
  });

  test('the list has the certificates that active APIs name, with their state and end of validity', async () => {
    const upload = async (cn: string) => {
      const { status, body, text } = await app().ask('POST', '/api/certs', { body: makeAuthority(cn).certPem });
      assert.equal(status, 200, text);
      return body.id as string;
    };
    const [used, removed] = [await upload('Used'), await upload('Removed')];
    await upload('Unused');
    const upstream = await startUpstream();
    const name = (id: string) =>
      openApi(upstream, { proxy: { ...openApi(upstream).proxy, transport: { ssl_ca_certificates: [id] } } });
    try {
      for (const id of [used, used, removed]) {
        const { status, text } = await app().ask('POST', '/api/apis', { body: { api_definition: name(id) } });
        assert.equal(status, 200, text);
      }
      assert.equal((await app().ask('DELETE', `/api/certs/${removed}?force=true`)).status, 200);
      await eventually(async () => {
        const [node] = (await app().ask('GET', '/api/system/nodes')).body.data.nodes;
        assert.deepEqual(node.certificates, [
          { kind: 'store', source: removed, state: 'failed', apis: 1, error: 'not in the certificate store' },
          {
            ...{ kind: 'store', source: used, state: 'loaded', subject: 'Used' },
            ...{ not_after: '2049-12-31T23:59:59Z', apis: 2 },
          },
        ]);
      });
    } finally {
      await upstream.close();
    }
  });

  test('a certificate of another process is expired after the end of its validity', async () => {
    const { nodes } = app().application.installation.services;
    const certificate = { kind: 'store' as const, source: 'c', subject: '', apis: 1, failure: '' };
    const ends = [0, 1_000, Date.now() + 3_600_000];
    const certificates = ends.map(notAfterMs => ({ ...certificate, notAfterMs }));
    const load = { requestsPerSecond: 0, eventLoopDelayMs: 0, stores: [], certificates };
    const other = { ...toNode('certified', Date.now()), load };
    await nodes.put(other);
    try {
      const { body } = await app().ask('GET', `/api/system/node/${other.id}/${other.hostname}`);
      assert.deepEqual(
        body.data.certificates.map(({ state }: { state: string }) => state),
        ['loaded', 'expired', 'loaded'],
      );
      assert.equal(body.data.certificates[1].not_after, '1970-01-01T00:00:01Z');
      assert.ok(!('not_after' in body.data.certificates[0]));
    } finally {
      await nodes.remove(other);
    }
  });

  test('an unknown id or host is not found', async () => {
    const { nodes } = (await app().ask('GET', '/api/system/nodes')).body.data;
    for (const path of [`unknown/${nodes[0].hostname}`, `${nodes[0].id}/unknown`])
      assert.equal((await app().ask('GET', `/api/system/node/${path}`)).status, 404, path);
  });

  test('a user of another organisation gets the number of nodes, and no host, memory or revision', async () => {
    const { nodes } = (await app().ask('GET', '/api/system/nodes')).body.data;
    const { accessKey: credential } = await app().stranger();
    const { status, body } = await app().ask('GET', '/api/system/nodes', { credential });
    assert.equal(status, 200);
    assert.deepEqual(body.data, {
      ...{ nodes: [], active_node_count: 1, nodes_available: -1, nodes_remaining: -1 },
      valid_until: '0001-01-01T00:00:00Z',
    });
    const path = `/api/system/node/${nodes[0].id}/${nodes[0].hostname}`;
    assert.equal((await app().ask('GET', path, { credential })).status, 404);
  });

  test('a process that ended without removing its row is lost after a minute, and not listed after an hour', async () => {
    const { nodes } = app().application.installation.services;
    const now = Date.now();
    const [killed, forgotten] = [toNode('killed', now - maxHeartbeatAgeMs - 1), toNode('old', now - maxLostAgeMs - 1)];
    for (const node of [killed, forgotten]) await nodes.put(node);
    try {
      const { body } = await app().ask('GET', '/api/system/nodes');
      const states = body.data.nodes.map(({ id, state }: { id: string; state: string }) => [id, state]);
      assert.equal(states.length, 2);
      assert.deepEqual(
        states.filter(([id]: string[]) => id === 'killed' || id === 'old'),
        [['killed', 'lost']],
      );
      assert.equal(body.data.active_node_count, 1);
      const { accessKey: credential } = await app().stranger();
      assert.equal((await app().ask('GET', '/api/system/nodes', { credential })).body.data.active_node_count, 1);
      assert.equal((await app().ask('GET', '/api/system/node/killed/host')).body.data.state, 'lost');
      const { body: status } = await app().ask('GET', '/gw/status');
      assert.deepEqual(
        status.nodes.map(({ id, state }: { id: string; state: string }) => [id, state]),
        states,
      );
    } finally {
      for (const node of [killed, forgotten]) await nodes.remove(node);
    }
  });

  test('a user without the permission gets 403', async () => {
    const person = { email_address: `n${createPublicId()}@example.org`, first_name: 'N', last_name: 'N', active: true };
    const rights = { org_id: app().credentials.organisation_id, user_permissions: { apis: 'write' } };
    const { body: user } = await app().ask('POST', '/admin/users', { body: { ...person, ...rights } });
    const refused = await app().ask('GET', '/api/system/nodes', { credential: user.Message });
    assert.equal(refused.status, 403, refused.text);
  });
});

describe('Nodes of several processes', () => {
  test('processes on one database list each other, with their segments, until they end', async () => {
    const { start, close } = await testInstallation('postgres');
    try {
      const one = await start('one');
      const two = await start('two', { 'gateway.segments': 'edge' });
      const list = async (at: TestProcess) => (await at.write('GET', '/api/system/nodes')).data.nodes;
      for (const process of [one, two])
        await eventually(async () => {
          const nodes = await list(process);
          assert.equal(nodes.length, 2);
          assert.deepEqual(
            nodes.flatMap((it: { segments: string[] }) => it.segments),
            ['edge'],
          );
        });
      const edge = (await list(one)).find((it: { segments: string[] }) => it.segments.length > 0);
      const { data } = await one.write('GET', `/api/system/node/${edge.id}/${edge.hostname}`);
      assert.deepEqual(data.db_app_conf_options, { node_is_segmented: true, tags: ['edge'] });
      await two.stop();
      assert.equal((await list(one)).length, 1);
    } finally {
      await close();
    }
  });
});

withRecords('Store probe', given => {
  test('a process whose clock is 90 seconds ahead has that skew', async () => {
    const clock = { now: () => systemClock.now() + 90_000 };
    const probe = createStoreProbe({ records: given(), shared: { ping: undefined, state: () => 'ok' }, clock });
    const { stores, clockSkewMs } = await probe();
    assert.deepEqual(
      stores.map(({ name, latencyMs }) => [name, latencyMs! > 0]),
      [['database', true]],
    );
    assert.ok(Math.abs(clockSkewMs! - 90_000) <= stores[0]!.latencyMs! + 1);
  });
});

describe('Redis in the list of nodes', () => {
  test('Redis has a latency, and is unavailable after it ended', async () => {
    const redis = await startRedis();
    const { shared, close } = await openSharedEngine({
      ...{ url: redis.url, prefix: 'gw:', clock: systemClock, timeoutMs: 500 },
      log: createLog({ level: 'error', format: 'json', write: () => undefined }),
    });
    try {
      const records = { readDatabaseTimeMs: async () => systemClock.now() };
      const probe = createStoreProbe({ records, shared, clock: systemClock });
      const readRedis = async () => (await probe()).stores.find(({ name }) => name === 'redis')!;
      assert.ok((await readRedis()).latencyMs! > 0);
      await redis.kill();
      assert.equal((await readRedis()).latencyMs, undefined);
    } finally {
      await close();
      await redis.stop();
    }
  });

  test('a store that does not answer is unavailable, and receives one request until it does', async () => {
    const reply = Promise.withResolvers<number>();
    let asked = 0;
    const readDatabaseTimeMs = () => {
      asked++;
      return reply.promise;
    };
    const shared = { ping: undefined, state: () => 'ok' as const };
    const probe = createStoreProbe({ records: { readDatabaseTimeMs }, shared, clock: systemClock, timeoutMs: 1 });
    for (let turn = 0; turn < 3; turn++)
      assert.deepEqual(await probe(), {
        stores: [{ name: 'database', latencyMs: undefined }],
        clockSkewMs: undefined,
      });
    assert.equal(asked, 1);
    reply.resolve(systemClock.now());
    await reply.promise;
    await eventually(async () => assert.notEqual((await probe()).stores[0]!.latencyMs, undefined));
  });
});

withRecords('Heartbeats', given => {
  const listIds = async () =>
    (await given().db.selectFrom('nodes').select('id').orderBy('id').execute()).map(({ id }) => id);

  test('a process without a recent heartbeat is not listed, and a repeated heartbeat replaces its row', async () => {
    const nodes = createNodeStore(given());
    const now = 10_000_000;
    await nodes.put(toNode('ended', now - maxLostAgeMs - 1));
    await nodes.put(toNode('lost', now - maxHeartbeatAgeMs - 1));
    await nodes.put(toNode('late', now - maxHeartbeatAgeMs));
    await nodes.put(toNode('late', now));
    assert.deepEqual(await nodes.list(now), [toNode('late', now)]);
    assert.deepEqual(
      (await nodes.listWithLost(now)).map(({ id }) => id),
      ['late', 'lost'],
    );
    assert.deepEqual(await listIds(), ['ended', 'late', 'lost']);
    await nodes.removeStale(now);
    assert.deepEqual(await listIds(), ['late', 'lost']);
    for (const id of ['late', 'lost']) await nodes.remove(toNode(id, now));
  });

  test('a heartbeat writes the row of its process, removes stale ones, and removes its own at the end', async () => {
    const records = given();
    const [nodes, statistics, clock] = [createNodeStore(records), createStatisticsStore(records), systemClock];
    await nodes.put(toNode('ended', clock.now() - 10 * maxLostAgeMs));
    const errors: Error[] = [];
    const traffic = { threads: 1, running: 1, restarts: 0, revision: 1, loadedAtMs: 1 };
    const heartbeat = startHeartbeat({
      ...{ nodes, statistics, clock },
      describeNode: () => ({ ...toNode('own', clock.now()), traffic: { ...traffic } }),
      onError: error => errors.push(error),
    });
    await heartbeat.wake();
    assert.deepEqual(await listIds(), ['own']);
    traffic.revision = 2;
    heartbeat.reportRevision();
    await eventually(async () => assert.equal((await nodes.list(clock.now()))[0]?.traffic?.revision, 2));
    await heartbeat.close();
    assert.deepEqual([await listIds(), errors], [[], []]);
  });
});
