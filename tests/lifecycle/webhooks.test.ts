import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { engines } from '../support/app.ts';
import { scratch, startChild } from '../support/gw-process.ts';
import { testInstallation } from '../support/installation.ts';
import { openApi } from '../support/traffic.ts';
import { eventually, type Received } from '../support/upstream.ts';
import { handling, type Receiver, startReceiver, webhook } from '../support/webhooks.ts';

/** Webhook deliveries are durable: they survive the process that queued them. */

let receiver: Receiver;
const { fresh, remove } = scratch('webhooks');
before(async () => {
  receiver = await startReceiver();
});
after(async () => {
  await remove();
  await receiver?.close();
});

const idOf = ({ headers }: Received) => String(headers['x-gw-delivery']);
const readEventName = ({ body }: Received) => String(JSON.parse(body).path).split('/').at(-1);

/** Publishes an API that posts AuthFailure events to a path of its own. */
function tellingApi() {
  const path = `/${createPublicId()}`;
  const definition = openApi(receiver, {
    use_keyless: false,
    ...handling('AuthFailure', webhook(receiver.url + path)),
  });
  return { path, definition, at: (gateway: string) => gateway + definition.proxy.listen_path };
}

const happen = async (at: string) =>
  assert.equal((await fetch(at, { headers: { authorization: 'nobody' } })).status, 403);

for (const engine of engines)
  test(`webhook deliveries queued at shutdown are sent by the next process under the same id (${engine})`, async () => {
    const installation = await testInstallation(engine, {
      'events.retry_interval_ms': '200',
      'events.max_attempts': '50',
    });
    try {
      const { path, definition, at } = tellingApi();
      receiver.answer = (_request, response) => void response.writeHead(503).end();
      const one = await installation.start();
      await one.write('POST', '/api/apis', { api_definition: definition });
      await one.waitUntilApplied();
      for (const name of ['1', '2']) await happen(`${at(one.gateway)}/${name}`);
      await eventually(() => assert.ok(receiver.at(path).length > 0));
      await one.stop();
      const failed = receiver.at(path);
      receiver.answer = undefined;
      const two = await installation.start();
      const calls = (await receiver.take(path, failed.length + 2)).slice(failed.length);
      assert.deepEqual(calls.map(readEventName), ['1', '2']);
      assert.deepEqual([...new Set(failed.map(idOf))], [idOf(calls[0]!)]);
      await two.stop();
    } finally {
      await installation.close();
    }
  });

test('a webhook delivery in flight at a SIGKILL is sent again under the same id', async () => {
  const directory = fresh();
  const { path, definition, at } = tellingApi();
  // The receiver accepts the request and never responds.
  receiver.answer = () => undefined;
  const killed = await startChild({ directory });
  assert.equal((await killed.ask('POST', '/api/apis', { body: { api_definition: definition } })).status, 200);
  await eventually(() => happen(`${at(killed.urls.gateway!)}/1`));
  const [first] = await receiver.take(path);
  assert.equal((await killed.stop('SIGKILL')).signal, 'SIGKILL');
  receiver.answer = undefined;
  const next = await startChild({ directory });
  const [, second] = await receiver.take(path, 2);
  assert.equal(idOf(second!), idOf(first!));
  await eventually(async () => {
    const { body } = await next.ask('GET', `/api/deliveries/${idOf(first!)}`);
    assert.equal(body.state, 'delivered');
  });
  assert.equal((await next.stop()).code, 0);
});

test('with two processes on one database each webhook delivery is sent by one of them, in order', async () => {
  const installation = await testInstallation('postgres');
  try {
    receiver.answer = undefined;
    const { path, definition, at } = tellingApi();
    // Started in sequence: the first process creates the credentials.
    const one = await installation.start('one');
    const two = await installation.start('two');
    await one.write('POST', '/api/apis', { api_definition: definition });
    await Promise.all([one.waitUntilApplied(), two.waitUntilApplied()]);
    const names = Array.from({ length: 20 }, (_, at) => String(at));
    for (const name of names) await happen(`${at(Number(name) % 2 === 0 ? one.gateway : two.gateway)}/${name}`);
    const calls = await receiver.take(path, names.length);
    assert.equal(new Set(calls.map(idOf)).size, names.length);
    assert.deepEqual(calls.map(readEventName).sort(), [...names].sort());
    const seen = await eventually(async () => {
      const { deliveries } = await one.write('GET', '/api/deliveries?p=0&state=delivered');
      assert.equal(deliveries.length, names.length);
      return deliveries as { id: string }[];
    });
    assert.deepEqual(seen.map(({ id }) => id).reverse(), calls.map(idOf), 'in the order they were written down');
  } finally {
    await installation.close();
  }
});
