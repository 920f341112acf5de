import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { createAddressPolicy, type LookupAll, networkNames } from '#base/address-policy.ts';
import { createDefaultConnection, type UpstreamConnectionOptions } from './connection-options.ts';
import { createUpstreamPools } from './pools.ts';
import type { UpstreamDispatcher } from './upstream-dispatcher.ts';

const policyOf = (networks: readonly string[], managementPorts: readonly number[] = []) =>
  createAddressPolicy({ networks, managementPorts: () => managementPorts });

async function serve(t: TestContext) {
  let connections = 0;
  const server = http.createServer((_request, response) => response.end('reached'));
  server.on('connection', () => {
    connections++;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

function poolsOf(t: TestContext, resolve?: LookupAll) {
  const pools = createUpstreamPools({
    connectTimeoutMs: 2000,
    headersTimeoutMs: 2000,
    maxConnections: 4,
    maxStreams: 4,
    maxWaiting: 4,
    waitTimeoutMs: 2000,
    maxSharePercent: 100,
    headLimits: { maxHeaderBytes: 16_384, maxHeaders: 1000 },
    prereadBytes: 1024,
    maxPrereadBytes: 1024,
    ...(resolve ? { resolve } : {}),
  });
  t.after(() => pools.close());
  return pools;
}

/** The body, or the code of the failure. */
const send = (pool: Pick<UpstreamDispatcher, 'dispatch'>, origin: string): Promise<string> =>
  new Promise(resolve => {
    let text = '';
    pool.dispatch(
      { origin, path: '/', method: 'GET', headers: ['host', 'any'], body: undefined, hasCallerTimeout: false },
      {
        onConnect: () => undefined,
        onHead: () => true,
        onData(chunk: Buffer) {
          text += chunk;
          return true;
        },
        onReadEnd: () => undefined,
        onComplete: () => resolve(text),
        onError: (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message),
      },
    );
  });

const answers =
  (...lists: string[][]): LookupAll =>
  (_host, answer) =>
    answer(null, lists.length > 1 ? lists.shift()! : lists[0]!);

describe('upstream address policy', () => {
  test('an upstream on loopback is reached with all networks and refused with public ones', async t => {
    const { port, connections } = await serve(t);
    const origin = `http://127.0.0.1:${port}`;
    const pools = poolsOf(t);
    assert.equal(await send(pools.get(origin, createDefaultConnection(policyOf(networkNames))), origin), 'reached');
    const before = connections();
    assert.equal(
      await send(pools.get(origin, createDefaultConnection(policyOf(['public']))), origin),
      'GW_ADDRESS_REFUSED',
    );
    assert.equal(connections(), before);
  });

  test('a name is refused by the address it resolves to, on the plain, upgraded and HTTP/2 way', async t => {
    const { port, connections } = await serve(t);
    const origin = `http://inside.example:${port}`;
    for (const addresses of [['127.0.0.1'], ['::ffff:127.0.0.1'], ['1.1.1.1', '127.0.0.1'], ['169.254.169.254']]) {
      const pools = poolsOf(t, answers(addresses));
      const connection = createDefaultConnection(policyOf(['public']));
      assert.equal(await send(pools.get(origin, connection), origin), 'GW_ADDRESS_REFUSED');
      assert.equal(await send(pools.get(origin, connection, true), origin), 'GW_ADDRESS_REFUSED');
      await assert.rejects(pools.open({ origin }, connection), { code: 'GW_ADDRESS_REFUSED' });
    }
    assert.equal(connections(), 0);
  });

  test('a resolver whose answer changes is asked once for a connection, and each connection is checked', async t => {
    const { port } = await serve(t);
    const origin = `http://rebinding.example:${port}`;
    let asked = 0;
    const list = [['127.0.0.1'], ['169.254.169.254']];
    const pools = poolsOf(t, (_host, answer) => answer(null, list[asked++] ?? ['169.254.169.254']));
    const connection = createDefaultConnection(policyOf(networkNames));
    const first = await pools.open({ origin }, connection);
    assert.deepEqual([asked, first.remoteAddress], [1, '127.0.0.1']);
    first.destroy();
    await assert.rejects(pools.open({ origin }, connection), { code: 'GW_ADDRESS_REFUSED' });
    assert.equal(asked, 2);
  });

  test('a management listener is refused under every name and address of this machine', async t => {
    const { port, connections } = await serve(t);
    const policy = policyOf(networkNames, [port]);
    const pools = poolsOf(t, answers(['127.0.0.1']));
    for (const host of ['127.0.0.1', '127.1', '[::ffff:127.0.0.1]', '[::1]', 'dashboard.example', '2130706433']) {
      const { origin } = new URL(`http://${host}:${port}`);
      assert.equal(await send(pools.get(origin, createDefaultConnection(policy)), origin), 'GW_ADDRESS_REFUSED', host);
    }
    assert.equal(connections(), 0);
  });

  test('connections are not shared between policies that differ', async t => {
    const { port } = await serve(t);
    const origin = `http://127.0.0.1:${port}`;
    const pools = poolsOf(t);
    const [all, loopback, same] = [networkNames, ['loopback'], ['loopback']].map(networks =>
      createDefaultConnection(policyOf(networks)),
    ) as [UpstreamConnectionOptions, UpstreamConnectionOptions, UpstreamConnectionOptions];
    assert.notEqual(pools.get(origin, all), pools.get(origin, loopback));
    assert.equal(pools.get(origin, loopback), pools.get(origin, same));
  });

  test('a forward proxy is held to the policy, and so are literal addresses behind it', async t => {
    const proxied: string[] = [];
    const proxy = http.createServer((request, response) => {
      proxied.push(request.url!);
      response.end('proxied');
    });
    proxy.on('connect', (request, socket) => {
      proxied.push(request.url!);
      socket.end('HTTP/1.1 502 no\r\n\r\n');
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    t.after(() => {
      proxy.closeAllConnections();
      proxy.close();
    });
    const { port } = proxy.address() as AddressInfo;
    const pools = poolsOf(t);
    const linkOf = (networks: readonly string[]): UpstreamConnectionOptions => ({
      ...createDefaultConnection(policyOf(networks)),
      poolKey: String(networks),
      proxy: new URL(`http://127.0.0.1:${port}`),
    });
    const ask = (origin: string, networks: readonly string[]) => send(pools.get(origin, linkOf(networks)), origin);
    for (const scheme of ['http', 'https']) {
      assert.equal(await ask(`${scheme}://169.254.169.254`, networkNames), 'GW_ADDRESS_REFUSED');
      assert.equal(await ask(`${scheme}://somewhere.example`, ['public']), 'GW_ADDRESS_REFUSED');
    }
    assert.deepEqual(proxied, []);
    assert.equal(await ask('http://somewhere.example', networkNames), 'proxied');
  });

  test('HTTP/2 without TLS reaches what the policy allows', async t => {
    const server = createHttp2Server((_request, response) => response.end('over h2c'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const pools = poolsOf(t);
    assert.equal(
      await send(pools.get(origin, createDefaultConnection(policyOf(['loopback'])), true), origin),
      'over h2c',
    );
  });
});
