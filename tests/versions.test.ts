import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import {
  type Definition,
  eventually,
  findUnavailableReason,
  openApi,
  publish,
  waitUntilApplied,
} from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

interface Event {
  readonly event?: string;
  readonly api_id?: string;
  readonly reason?: string;
}

/** Ports nobody has at the moment. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = servers.map(server => (server.address() as AddressInfo).port);
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))));
  return ports;
}

describe('Expiry, ports and version errors', () => {
  const events: Event[] = [];
  let app: TestApp;
  let upstream: Upstream;
  let ports: number[];
  before(async () => {
    ports = await freePorts(3);
    upstream = await startUpstream();
    app = await startApp('sqlite', {
      onLog: line => void events.push(JSON.parse(line)),
      settings: { 'gateway.extra_ports': `${ports[0]},${ports[1]}-${ports[1]}`, threads: '2' },
    });
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });
  const listFailures = (apiId: string) => events.filter(it => it.event === 'VersionFailure' && it.api_id === apiId);
  const at = (port: number, path: string) => `http://127.0.0.1:${port}${path}`;
  const change = async (definition: Definition) => {
    const { status, text } = await app.ask('PUT', `/api/apis/${definition.api_id}`, {
      body: { api_definition: definition },
    });
    assert.equal(status, 200, text);
    await waitUntilApplied(app);
  };

  test('the VersionFailure event carries the reason', async () => {
    const versions = { v1: { name: 'v1' } };
    const definition = openApi(upstream, {
      definition: { location: 'header', key: 'x-v' },
      version_data: { not_versioned: false, versions },
    });
    const url = await publish(app, definition);
    assert.equal((await fetch(url)).status, 403);
    assert.equal((await fetch(url, { headers: { 'x-v': 'v7' } })).status, 403);
    await eventually(() =>
      assert.deepEqual(
        listFailures(definition.api_id).map(it => it.reason),
        ['Version information not found', 'This API version does not seem to exist'],
      ),
    );
  });

  test('a default version that does not exist is reported as unknown, not as missing', async () => {
    const definition = openApi(upstream, {
      definition: { location: 'header', key: 'x-v' },
      version_data: { not_versioned: false, default_version: 'v9', versions: { v1: { name: 'v1' } } },
    });
    const reply = await fetch(await publish(app, definition));
    assert.deepEqual([reply.status, await reply.json()], [403, { error: 'This API version does not seem to exist' }]);
  });

  test('names of Object.prototype are not versions', async () => {
    const definition = openApi(upstream, {
      definition: { enabled: true, name: 'base', default: 'self', location: 'header', key: 'x-v', versions: {} },
    });
    const url = await publish(app, definition);
    for (const name of ['constructor', '__proto__', 'toString'])
      assert.equal((await fetch(url, { headers: { 'x-v': name } })).status, 404, name);
  });

  test('refusals of versions as separate APIs emit no event', async () => {
    const definition = openApi(upstream, {
      definition: { enabled: true, name: 'base', default: '', location: 'header', key: 'x-v', versions: {} },
    });
    const url = await publish(app, definition);
    const missing = await fetch(url);
    assert.deepEqual([missing.status, await missing.json()], [403, { error: 'Version information not found' }]);
    const unknown = await fetch(url, { headers: { 'x-v': 'v7' } });
    assert.deepEqual(
      [unknown.status, await unknown.json()],
      [404, { error: 'This API version does not seem to exist' }],
    );
    // A later event arrives first, which proves that the earlier refusals emitted none.
    const received = openApi(upstream, {
      definition: { location: 'header', key: 'x-v' },
      version_data: { not_versioned: false, versions: { v1: { name: 'v1' } } },
    });
    await fetch(await publish(app, received));
    await eventually(() => assert.equal(listFailures(received.api_id).length, 1));
    assert.deepEqual(listFailures(definition.api_id), []);
  });

  test('every response carries the expiry of the API, also refusals', async () => {
    const ends = { expiration: '2040-01-01 00:00' };
    const expected = 'Sun, 01 Jan 2040 00:00:00 GMT';
    upstream.answer = undefined;
    const open = await fetch(await publish(app, openApi(upstream, ends)));
    assert.deepEqual([open.status, open.headers.get('x-gw-api-expires')], [200, expected]);
    const guarded = await fetch(
      await publish(app, openApi(upstream, { ...ends, use_keyless: false, use_standard_auth: true })),
    );
    assert.deepEqual([guarded.status, guarded.headers.get('x-gw-api-expires')], [401, expected]);
  });

  test('an API with its own port is served only there, and no other API is', async () => {
    const [own] = ports as [number];
    const definition = openApi(upstream, { listen_port: own });
    const path = definition.proxy.listen_path;
    const url = await publish(app, definition);
    assert.equal((await fetch(at(own, path))).status, 200);
    assert.equal((await fetch(url)).status, 404);
    const other = await publish(app, openApi(upstream));
    assert.equal((await fetch(other)).status, 200);
    assert.equal((await fetch(at(own, new URL(other).pathname))).status, 404);
    await change({ ...definition, listen_port: 0 });
    assert.equal((await fetch(url)).status, 200);
    await assert.rejects(fetch(at(own, path), { headers: { connection: 'close' } }));
  });

  test('a port opens with its first API and closes with its last', async () => {
    const own = ports[1]!;
    const [one, two] = [openApi(upstream, { listen_port: own }), openApi(upstream, { listen_port: own })];
    await assert.rejects(fetch(at(own, '/')));
    await publish(app, one);
    await publish(app, two);
    const callApi = (definition: typeof one) =>
      fetch(at(own, definition.proxy.listen_path), { headers: { connection: 'close' } });
    assert.deepEqual([(await callApi(one)).status, (await callApi(two)).status], [200, 200]);
    await app.ask('DELETE', `/api/apis/${one.api_id}`);
    await waitUntilApplied(app);
    assert.deepEqual([(await callApi(one)).status, (await callApi(two)).status], [404, 200]);
    await app.ask('DELETE', `/api/apis/${two.api_id}`);
    await waitUntilApplied(app);
    await assert.rejects(callApi(two));
  });

  test('an API with a port that is not allowed is not served, and its status names the reason', async () => {
    const definition = openApi(upstream, { listen_port: ports[2] });
    const reason = await findUnavailableReason(app, await publish(app, definition));
    assert.match(reason, new RegExp(`its port ${ports[2]} is not in gateway.extra_ports`));
    // A listener of another process may have taken the port since.
    const before = upstream.requests.length;
    await fetch(at(ports[2]!, definition.proxy.listen_path)).catch(() => undefined);
    assert.equal(upstream.requests.length, before);
  });
});

test('invalid ports fail the start', async () => {
  for (const given of ['http', '70000', '9000-8000', '1-2-3'])
    await assert.rejects(startApp('sqlite', { settings: { 'gateway.extra_ports': given } }), /extra_ports/, given);
});
