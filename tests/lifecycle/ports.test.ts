import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, describe, test } from 'node:test';
import { createPortClaims } from '#gateway/server/port-claims.ts';
import { eventually, runChild, scratch, startChild } from '../support/gw-process.ts';
import { freePort } from '../support/services/server.ts';
import { openApi } from '../support/traffic.ts';
import { startUpstream } from '../support/upstream.ts';

const { fresh, remove } = scratch('ports');
after(remove);

describe('SO_REUSEPORT listeners', () => {
  for (const host of ['127.0.0.1', '::1', '0.0.0.0'])
    test(`a second process refuses to start on the gateway port of a running one, on ${host}`, async () => {
      const environment = { GW_GATEWAY_HOST: host, GW_GATEWAY_PORT: String(await freePort()), GW_THREADS: '2' };
      const first = await startChild({ directory: fresh(), environment });
      const second = await runChild(['start'], { directory: fresh(), environment });
      assert.notEqual(second.code, 0);
      assert.match(
        second.err,
        new RegExp(
          `Port ${environment.GW_GATEWAY_PORT} on ${host} is in use: stop the process that listens there, or set GW_GATEWAY_PORT`,
        ),
      );
      assert.equal((await first.stop()).code, 0);
      // The probe socket is closed, so the port is free again.
      const third = await startChild({ directory: fresh(), environment });
      assert.equal((await third.stop()).code, 0);
    });

  test('a second process does not open an API port that a running one has open', async () => {
    const upstream = await startUpstream();
    const port = await freePort();
    const environment = { GW_THREADS: '2', GW_GATEWAY_EXTRA_PORTS: String(port) };
    const definition = openApi(upstream, { listen_port: port });
    const [first, second] = [
      await startChild({ directory: fresh(), environment }),
      await startChild({ directory: fresh(), environment }),
    ];
    for (const child of [first, second])
      assert.equal((await child.ask('POST', '/gw/apis', { body: definition })).status, 200);
    const address = `http://127.0.0.1:${port}${definition.proxy.listen_path}`;
    await eventually(async () => (await fetch(address)).status === 200, 'the first one serves it');
    await eventually(() => /API port not opened/.test(second.err()), 'the second one says so');
    assert.match(second.err(), /EADDRINUSE/);
    assert.doesNotMatch(first.err(), /API port not opened/);
    assert.equal((await first.stop()).code, 0);
    await eventually(
      () =>
        fetch(address).then(
          reply => reply.status === 200,
          () => false,
        ),
      'the second one opens it when it is free',
    );
    assert.equal((await second.stop()).code, 0);
    await upstream.close();
  });

  test('a port is probed once for all threads, and again after the last of them released it', async () => {
    const server = createServer();
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const claims = createPortClaims('127.0.0.1');
    await assert.rejects(claims.claim(1, port), { code: 'EADDRINUSE' });
    await new Promise(resolve => server.close(resolve));
    await Promise.all([claims.claim(1, port), claims.claim(2, port)]);
    await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve));
    await claims.claim(3, port);
    claims.release(1, port);
    claims.releaseAll(2);
    claims.release(3, port);
    await assert.rejects(claims.claim(1, port), { code: 'EADDRINUSE' });
    server.close();
  });
});
