import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addPerson } from '../../../tests/support/browser.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { isSigned, type Receiver, startReceiver } from '../../../tests/support/webhooks.ts';
import { eventNames } from '../payload.ts';

onEveryEngine('Tests of webhooks', app => {
  let receiver: Receiver;
  before(async () => {
    receiver = await startReceiver();
  });
  after(() => receiver.close());

  const make = async (more: object = {}, credential?: string) => {
    const path = `/${createPublicId()}`;
    const body = { method: 'POST', target_path: receiver.url + path, ...more };
    const made = await app().ask('POST', '/api/hooks', { body, ...(credential ? { credential } : {}) });
    assert.equal(made.status, 200, made.text);
    return { id: made.body.ID as string, path };
  };
  const send = (id: string, query = '', credential?: string) =>
    app().ask('POST', `/api/hooks/${id}/test${query}`, credential ? { credential } : {});

  test('a test event arrives signed, with the headers and the template of the webhook, and is not queued', async () => {
    const template_path = '{"text": "{{.Type}}: {{.Meta.Message}}"}';
    const { id, path } = await make({ header_map: { 'X-Own': 'mine' }, template_path });
    receiver.answer = (_request, response) => void response.writeHead(202).end('taken');
    const { status, body, text } = await send(id);
    receiver.answer = undefined;
    assert.equal(status, 200, text);
    const [call] = receiver.at(path);
    const { secret } = (await app().ask('GET', `/api/hooks/${id}/secret`)).body;
    assert.ok(isSigned(call!, secret));
    const { 'x-own': own, 'x-gw-event': event, 'x-gw-test': flag, 'user-agent': agent } = call!.headers;
    assert.deepEqual([own, event, flag, agent], ['mine', 'AuthFailure', 'true', 'Gw-Hookshot']);
    assert.equal(call!.body, '{"text": "AuthFailure: Test of the webhook"}');
    const { duration_ms, ...result } = body;
    assert.ok(duration_ms >= 0);
    assert.deepEqual(result, {
      delivered: true,
      status: 202,
      error: '',
      request: { method: 'POST', url: receiver.url + path, content_type: 'application/json', body: call!.body },
      response_body: 'taken',
    });
    assert.deepEqual((await app().ask('GET', `/api/hooks/${id}/deliveries`)).body.deliveries, []);
  });

  test('every event can be sent, and its body has all members', async () => {
    const { id, path } = await make();
    for (const event of eventNames) {
      const { body } = await send(id, `?event=${event}`);
      assert.equal(body.delivered, true, event);
      const sent = JSON.parse(receiver.at(path).at(-1)!.body);
      assert.equal(sent.event, event);
      for (const [name, value] of Object.entries(sent)) assert.notEqual(value, '', `${event}.${name}`);
    }
    assert.equal((await send(id, '?event=Unknown')).status, 400);
  });

  test('a failure is a result: error status, closed port, refused address, timeout, template', async () => {
    receiver.answer = (_request, response) => void response.writeHead(500).end('no');
    const failed = (await send((await make()).id)).body;
    receiver.answer = undefined;
    assert.deepEqual([failed.delivered, failed.status, failed.error], [false, 500, 'it answered 500']);
    const closed = await startReceiver();
    await closed.close();
    const unreachable = (await send((await make({ target_path: `${closed.url}/x` })).id)).body;
    assert.deepEqual([unreachable.delivered, unreachable.status], [false, 0]);
    assert.match(unreachable.error, /127\.0\.0\.1/);
    const missing = (await send((await make({ template_path: 'missing/file.json' })).id)).body;
    assert.match(missing.error, /^the payload could not be built: /);
    assert.equal(missing.delivered, false);
  });

  test('addresses that deliveries cannot reach are refused, also by a name of loopback', async () => {
    const { orgId, accessKey } = await app().stranger();
    const { id, path } = await make({}, accessKey);
    const grants = (await app().ask('GET', `/admin/organisations/${orgId}/grants`)).body;
    const changed = await app().ask('PUT', `/admin/organisations/${orgId}/grants`, {
      body: { ...grants, networks: ['public'] },
    });
    assert.equal(changed.status, 200, changed.text);
    const { body } = await send(id, '', accessKey);
    assert.deepEqual([body.delivered, body.status, body.response_body], [false, 0, '']);
    assert.deepEqual(receiver.at(path), []);
  });

  test('a test needs hooks:write, and shows the response to callers with apis:write only', async () => {
    const { id } = await make();
    const asUser = async (user_permissions: object) => {
      const { accessKey } = await addPerson(app(), { user_permissions });
      return send(id, '', accessKey);
    };
    assert.equal((await asUser({ hooks: 'read', apis: 'write' })).status, 403);
    const narrow = await asUser({ hooks: 'write', apis: 'read' });
    assert.deepEqual([narrow.body.delivered, narrow.body.response_body], [true, '']);
    const wide = await asUser({ hooks: 'write', apis: 'write' });
    assert.notEqual(wide.body.response_body, '');
  });

  test('a body template is rendered for any event without being stored or sent', async () => {
    const preview = (body: object) => app().ask('POST', '/api/hooks/preview', { body });
    const before = receiver.requests.length;
    for (const event of eventNames) {
      const { body } = await preview({ template_path: '{"text": "{{.Type}} {{.Meta.Message}}"}', event });
      const text = `{"text": "${event} Test of the webhook"}`;
      assert.deepEqual(body, { body: text, content_type: 'application/json', error: '' });
    }
    const { body: plain } = await preview({});
    assert.equal(JSON.parse(plain.body).event, 'AuthFailure');
    const { body: failed } = await preview({ template_path: 'missing/file.json' });
    assert.deepEqual([failed.body, failed.content_type], ['', '']);
    assert.match(failed.error, /^the payload could not be built: /);
    assert.equal((await preview({ template_path: '{{.Type' })).status, 400);
    assert.equal((await preview({ template_path: '../../etc/passwd' })).body.body, '');
    assert.equal(receiver.requests.length, before);
  });

  test('a long response is cut, and a method without a body sends none', async () => {
    const { id, path } = await make({ method: 'GET' });
    receiver.answer = (_request, response) => void response.end('é'.repeat(2000));
    const { body } = await send(id);
    receiver.answer = undefined;
    assert.equal(body.response_body, 'é'.repeat(1024));
    assert.deepEqual([receiver.at(path)[0]!.body, body.request.body, body.request.content_type], ['', '', '']);
  });

  test('more tests of an organisation at once than the bound are refused, and later ones are accepted', async () => {
    const { id, path } = await make();
    const open: (() => void)[] = [];
    receiver.answer = (_request, response) => void open.push(() => response.end());
    const running = Array.from({ length: 4 }, () => send(id));
    await eventually(() => assert.equal(open.length, 4));
    const refused = await send(id);
    assert.deepEqual([refused.status, receiver.at(path).length], [429, 4]);
    receiver.answer = undefined;
    for (const end of open) end();
    for (const { status, body } of await Promise.all(running)) assert.deepEqual([status, body.delivered], [200, true]);
    assert.equal((await send(id)).status, 200);
  });
});
