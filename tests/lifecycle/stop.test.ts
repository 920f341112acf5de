import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { after, test } from 'node:test';
import { type Child, eventually, scratch, startChild } from '../support/gw-process.ts';
import { openApi } from '../support/traffic.ts';
import { startUpstream } from '../support/upstream.ts';

const { fresh, remove } = scratch('stop');
after(remove);

interface Slow {
  finish(): Promise<number>;
  readonly sending: ClientRequest;
}

/** A request in flight: the child has read its head, and part of its body is still unsent. */
async function slowRequest(child: Child, name: string): Promise<Slow> {
  const body = JSON.stringify({ owner_name: name });
  const sending = request(`${child.urls.dashboard}/admin/organisations`, {
    method: 'POST',
    headers: {
      'admin-auth': child.credentials.admin_secret,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      expect: '100-continue',
    },
  });
  sending.flushHeaders();
  await once(sending, 'continue');
  sending.write(body.slice(0, 5));
  return {
    sending,
    async finish() {
      const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
      sending.end(body.slice(5));
      const [response] = await answered;
      response.resume();
      await once(response, 'end');
      return response.statusCode!;
    },
  };
}

const takesNobody = (url: string) =>
  eventually(
    () =>
      fetch(`${url}/live`, { headers: { connection: 'close' } }).then(
        response => response.status === 503,
        () => true,
      ),
    'it takes no more requests',
  );

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} drains requests in flight, accepts no new ones, and exits with 0`, async () => {
    const directory = fresh();
    const child = await startChild({ directory });
    const slow = await slowRequest(child, 'Slow');
    const ended = child.stop(signal);
    await eventually(() => child.err().includes('"stopping"'), 'it says that it stops');
    await takesNobody(child.urls.dashboard!);
    assert.equal(await slow.finish(), 200);
    const { code, err } = await ended;
    assert.equal(code, 0, err);
    const again = await startChild({ directory });
    const { body } = await again.ask('GET', '/admin/organisations');
    assert.ok(body.organisations.some((it: { owner_name: string }) => it.owner_name === 'Slow'));
    assert.equal((await again.stop()).code, 0);
  });
}

test('idle connections do not delay the shutdown, which writes the access log to its end', async () => {
  const child = await startChild({ directory: fresh(), environment: { GW_ACCESS_LOG_OUTPUT: 'stdout' } });
  for (const url of Object.values(child.urls)) assert.equal((await fetch(`${url}/live`)).status, 200);
  assert.equal((await fetch(`${child.urls.gateway}/unrouted`)).status, 404);
  const { code, out } = await child.stop();
  assert.equal(code, 0);
  const lines = out.split('\n').filter(line => line.startsWith('{"time":'));
  assert.deepEqual(
    lines.map(line => JSON.parse(line)).map(({ path, status }) => [path, status]),
    [['/unrouted', 404]],
  );
});

test('a request that never completes is aborted after the shutdown timeout', async () => {
  const child = await startChild({ directory: fresh(), environment: { GW_SHUTDOWN_GRACE_SECONDS: '1' } });
  const slow = await slowRequest(child, 'Never');
  const cut = once(slow.sending, 'error');
  assert.equal((await child.stop()).code, 1);
  await cut;
});

test('a second signal exits immediately', async () => {
  const child = await startChild({ directory: fresh() });
  const slow = await slowRequest(child, 'Impatient');
  const cut = once(slow.sending, 'error');
  child.process.kill('SIGTERM');
  await eventually(() => child.err().includes('"stopping"'), 'it says that it stops');
  assert.equal((await child.stop('SIGINT')).code, 1);
  await cut;
});

test('a product whose output is no longer read serves on, and stops as usual', async () => {
  const environment = { GW_LOG_LEVEL: 'debug', GW_ACCESS_LOG_OUTPUT: 'stdout' };
  const child = await startChild({ directory: fresh(), environment });
  child.process.stdout!.destroy();
  child.process.stderr!.destroy();
  const upstream = await startUpstream();
  const definition = openApi(upstream);
  assert.equal((await child.ask('POST', '/gw/apis', { body: definition })).status, 200);
  const url = `${child.urls.gateway}${definition.proxy.listen_path}`;
  await eventually(async () => (await fetch(url)).status === 200, 'the API is served');
  assert.equal((await child.stop()).code, 0);
  await upstream.close();
});
