import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, rememberSecrets, type TestApp } from './support/app.ts';
import { walkOf } from './support/doc-commands.ts';
import { openApi, storeUnchecked, waitUntilApplied } from './support/traffic.ts';
import { eventually, type Received, startUpstream, type Upstream } from './support/upstream.ts';
import { handling, isSigned, type Receiver, startReceiver, webhook } from './support/webhooks.ts';

/** Webhook calls from an event to their receiver, and what operators see of them. */

let upstream: Upstream;
let receiver: Receiver;
const templates = mkdtempSync(join(tmpdir(), 'gw-templates-'));
const lines: { msg?: string; event?: string; type?: string }[] = [];
/** What the receiver answers at a path, in turn; 200 once they are used up. */
const planned = new Map<string, number[]>();

before(async () => {
  [upstream, receiver] = await Promise.all([startUpstream(), startReceiver()]);
  receiver.answer = ({ url }, response) => {
    response.statusCode = planned.get(url!)?.shift() ?? 200;
    response.end();
  };
  mkdirSync(join(templates, 'hooks'));
  writeFileSync(join(templates, 'hooks/short.json'), '{"what":"{{.Type}}"}');
  writeFileSync(join(tmpdir(), 'gw-outside.json'), '{"outside":true}');
});
after(async () => {
  await receiver?.close();
  await upstream?.close();
  rmSync(templates, { recursive: true, force: true });
  rmSync(join(tmpdir(), 'gw-outside.json'), { force: true });
});

const target = () => {
  const path = `/${createPublicId()}`;
  return { path, url: receiver.url + path };
};
const idOf = ({ headers }: Received) => String(headers['x-gw-delivery']);

/** Asks the management interface for something that must work. */
async function requestOk(app: TestApp, method: string, path: string, body?: unknown) {
  const answer = await app.ask(method, path, body === undefined ? {} : { body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** An API with handlers of AuthFailure; every request without a valid key emits one. */
async function telling(app: TestApp, handlers: object[], around: object = {}) {
  const api = openApi(upstream, { use_keyless: false, ...handling('AuthFailure', ...handlers) });
  await requestOk(app, 'POST', '/api/apis', { api_definition: api, ...around });
  await waitUntilApplied(app);
  const url = app.url.gateway + api.proxy.listen_path;
  return {
    api,
    apiId: api.api_id,
    url,
    async happen(path = '/x', key = 'nobody', headers = {}) {
      assert.equal((await fetch(url + path, { headers: { authorization: key, ...headers } })).status, 403);
    },
  };
}

async function createHook(app: TestApp, hook: object): Promise<string> {
  return (await requestOk(app, 'POST', '/api/hooks', { method: 'POST', ...hook })).ID;
}

const deliveriesOf = async (app: TestApp, query: string) =>
  (await requestOk(app, 'GET', `/api/deliveries?${query}`)).deliveries as {
    id: string;
    hook_id: string;
    state: string;
    status: number;
    attempts: number;
    error: string;
    api_id: string;
    event: string;
  }[];

onEveryEngine(
  'webhooks',
  current => {
    test('a stored webhook named by an OpenAPI definition is called as configured and signed', async () => {
      const app = current();
      const { path, url } = target();
      const webhook_id = createPublicId();
      const hookId = await createHook(app, {
        method: 'PUT',
        target_path: url,
        name: 'CRM',
        header_map: { 'X-Own': 'mine', 'X-Gw-Delivery': 'forged' },
        template_path: '{"type":"{{.Type}}","at":"{{.Meta.Path}}","by":"{{.Meta.Key}}"}',
        webhook_id,
      });
      const listenPath = `/${createPublicId()}`;
      const handler = { enabled: true, trigger: 'AuthFailure', type: 'webhook', id: webhook_id, cooldownPeriod: '0s' };
      const extension = {
        info: { name: 'Hook templates', orgId: app.credentials.organisation_id, state: { active: true } },
        upstream: { url: upstream.url },
        server: {
          listenPath: { value: listenPath, strip: true },
          authentication: { enabled: true },
          eventHandlers: [handler],
        },
      };
      await requestOk(app, 'POST', '/gw/apis/oas', {
        openapi: '3.0.3',
        info: { title: 'Hook templates', version: '1' },
        paths: {},
        'x-gw-api-gateway': extension,
      });
      await waitUntilApplied(app);
      const reply = await fetch(`${app.url.gateway}${listenPath}/a`, { headers: { authorization: 'nobody' } });
      assert.equal(reply.status, 403);
      const [call] = (await receiver.take(path)) as [Received];
      const { secret } = await requestOk(app, 'GET', `/api/hooks/${hookId}/secret`);
      rememberSecrets({ secret });
      assert.match(secret, /^whsec_[\w-]{43}$/);
      const { by, ...content } = JSON.parse(call.body);
      assert.deepEqual(content, { type: 'AuthFailure', at: `${listenPath}/a` });
      assert.match(by, /^[0-9a-f]+$/);
      assert.equal(call.method, 'PUT');
      assert.equal(call.headers['user-agent'], 'Gw-Hookshot');
      assert.equal(call.headers['content-type'], 'application/json');
      assert.equal(call.headers['x-own'], 'mine');
      assert.equal(call.headers['x-gw-event'], 'AuthFailure');
      assert.ok(isSigned(call, secret));
      assert.ok(!isSigned(call, `${secret}x`));
      const [seen] = await eventually(async () => {
        const found = await deliveriesOf(app, `hook_id=${hookId}`);
        assert.equal(found[0]!.state, 'delivered');
        return found;
      });
      assert.equal(seen!.id, idOf(call));
      assert.equal(seen!.status, 200);
    });

    test('an inline handler of an OpenAPI definition is called with its headers and cool-down', async () => {
      const app = current();
      const { path, url } = target();
      const listenPath = `/${createPublicId()}`;
      const about = { enabled: true, trigger: 'VersionFailure', type: 'webhook' };
      const handler = {
        ...about,
        url,
        method: 'PATCH',
        bodyTemplate: '{"why":"{{.Meta.Reason}}"}',
        headers: [{ name: 'X-Two', value: '2' }],
        cooldownPeriod: '1h',
      };
      const block = { block: { enabled: true } };
      await requestOk(app, 'POST', '/gw/apis/oas', {
        openapi: '3.0.3',
        info: { title: 'inline', version: '1' },
        paths: { '/a': { get: { operationId: 'a', responses: { 200: { description: 'ok' } } } } },
        'x-gw-api-gateway': {
          info: { name: 'inline', orgId: app.credentials.organisation_id, state: { active: true } },
          upstream: { url: upstream.url },
          server: {
            listenPath: { value: listenPath, strip: true },
            eventHandlers: [handler, { ...handler, enabled: false, url: `${url}/off` }],
          },
          middleware: { operations: { a: block } },
        },
      });
      await waitUntilApplied(app);
      for (let calls = 0; calls < 3; calls++)
        assert.equal((await fetch(`${app.url.gateway}${listenPath}/a`)).status, 403);
      const [call] = await receiver.take(path);
      assert.deepEqual([call!.method, call!.headers['x-two']], ['PATCH', '2']);
      assert.equal(call!.body, '{"why":"Requested endpoint is forbidden"}');
      assert.equal(receiver.at(`${path}/off`).length, 0);
    });

    test('a rotated secret signs immediately, and the previous one for a grace period', async () => {
      const app = current();
      const { path, url } = target();
      const hookId = await createHook(app, { target_path: url });
      const { happen } = await telling(app, [{ handler_name: 'eh_web_hook_handler', handler_meta: { id: hookId } }]);
      const { secret: old } = await requestOk(app, 'GET', `/api/hooks/${hookId}/secret`);
      const { secret: fresh } = await requestOk(app, 'POST', `/api/hooks/${hookId}/secret`);
      assert.notEqual(fresh, old);
      await happen();
      const [call] = await receiver.take(path);
      assert.deepEqual([isSigned(call!, fresh), isSigned(call!, old)], [true, true]);
      const { secret: inline } = await requestOk(app, 'GET', '/api/hooks/inline/secret');
      assert.equal(isSigned(call!, inline), false);
    });

    test('a failed delivery is retried under its id and delays only later deliveries of its webhook', async () => {
      const app = current();
      const [failing, fine] = [target(), target()];
      planned.set(failing.path, [500, 503, 302]);
      const { happen, apiId } = await telling(app, [webhook(failing.url), webhook(fine.url)]);
      for (const path of ['/1', '/2', '/3']) await happen(path);
      const readPathEnd = ({ body }: Received) => String(JSON.parse(body).path).slice(-2);
      assert.deepEqual((await receiver.take(fine.path, 3)).map(readPathEnd), ['/1', '/2', '/3']);
      const calls = await receiver.take(failing.path, 6);
      assert.deepEqual(calls.map(readPathEnd), ['/1', '/1', '/1', '/1', '/2', '/3']);
      assert.equal(new Set(calls.slice(0, 4).map(idOf)).size, 1);
      assert.equal(new Set(calls.map(idOf)).size, 3);
      const read = await eventually(async () => {
        const it = await requestOk(app, 'GET', `/api/deliveries/${idOf(calls[0]!)}`);
        assert.equal(it.state, 'delivered');
        return it;
      });
      assert.deepEqual([read.attempts, read.status, read.error, read.api_id], [4, 200, '', apiId]);
      const statuses = read.log.map((it: { status: number; error: string }) => [it.status, it.error]);
      const refused = [500, 503, 302].map(status => [status, `it answered ${status}`]);
      assert.deepEqual(statuses, [...refused, [200, '']]);
      assert.equal(read.target, `POST ${failing.url}`);
    });

    test('a delivery that keeps failing is marked dead, listed, and delivered on a manual retry', async () => {
      const app = current();
      const { path, url } = target();
      planned.set(path, Array(8).fill(500));
      const hookId = await createHook(app, { target_path: url });
      const { happen } = await telling(app, [{ handler_name: 'eh_web_hook_handler', handler_meta: { id: hookId } }]);
      await happen('/1');
      await happen('/2');
      const letters = await eventually(async () => {
        const found = (await requestOk(app, 'GET', `/api/dead-letters?hook_id=${hookId}`)).deliveries;
        assert.equal(found.length, 2);
        return found;
      });
      assert.deepEqual([letters[0].attempts, letters[0].status, letters[0].error], [4, 500, 'it answered 500']);
      assert.equal(receiver.at(path).length, 8);
      assert.deepEqual(await requestOk(app, 'POST', `/api/deliveries/${letters[0].id}/retry`), {
        Status: 'OK',
        Message: 'Delivery will be tried again',
        Meta: null,
      });
      const [, , , , , , , , ninth] = await receiver.take(path, 9);
      assert.equal(idOf(ninth!), letters[0].id);
      await eventually(async () => {
        const again = await app.ask('POST', `/api/deliveries/${letters[0].id}/retry`);
        assert.deepEqual(
          [again.status, again.body.Message],
          [409, 'Only a dead letter can be retried; this delivery is delivered'],
        );
      });
      assert.deepEqual((await requestOk(app, 'POST', `/api/hooks/${hookId}/retry`)).Meta, { retried: 1 });
      const calls = await receiver.take(path, 10);
      assert.equal(idOf(calls[9]!), letters[1].id);
    });

    test('deliveries, retries and secrets are limited to the own organisation', async () => {
      const app = current();
      const { path, url } = target();
      const hookId = await createHook(app, { target_path: url });
      const { happen } = await telling(app, [{ handler_name: 'eh_web_hook_handler', handler_meta: { id: hookId } }]);
      await happen();
      const [call] = await receiver.take(path);
      const { accessKey: credential } = await app.stranger();
      const status = async (method: string, at: string) => (await app.ask(method, at, { credential })).status;
      assert.equal(await status('GET', `/api/deliveries/${idOf(call!)}`), 404);
      assert.equal(await status('POST', `/api/deliveries/${idOf(call!)}/retry`), 404);
      for (const at of ['deliveries', 'secret']) assert.equal(await status('GET', `/api/hooks/${hookId}/${at}`), 404);
      assert.equal(await status('POST', `/api/hooks/${hookId}/retry`), 404);
      const { body } = await app.ask('GET', '/api/deliveries?p=0', { credential });
      assert.deepEqual(body, { deliveries: [], pages: 1 });
      assert.equal((await app.ask('GET', `/admin/deliveries/${idOf(call!)}`)).status, 404);
    });

    test('lists are filtered by webhook, API, event and state, and paginated', async () => {
      const app = current();
      const { path, url } = target();
      const { happen, apiId } = await telling(app, [webhook(url)]);
      for (let n = 0; n < 11; n++) await happen(`/${n}`);
      await receiver.take(path, 11);
      const mine = `api_id=${apiId}`;
      await eventually(async () => assert.equal((await deliveriesOf(app, `${mine}&state=delivered&p=0`)).length, 11));
      const { deliveries, pages } = await requestOk(app, 'GET', `/api/deliveries?${mine}&event=AuthFailure`);
      assert.deepEqual([deliveries.length, pages], [10, 2]);
      assert.equal((await deliveriesOf(app, `${mine}&p=2`)).length, 1);
      assert.equal((await deliveriesOf(app, `${mine}&event=KeyExpired`)).length, 0);
      const hook = deliveries[0].hook_id;
      assert.match(hook, /^inline-/);
      assert.equal((await requestOk(app, 'GET', `/api/hooks/${hook}/deliveries?p=0`)).deliveries.length, 11);
      assert.equal((await app.ask('GET', '/api/deliveries?state=lost')).status, 400);
    });

    test('a repeated event is delivered once per cool-down, and every time without one', async () => {
      const app = current();
      const [cool, always] = [target(), target()];
      const { happen } = await telling(app, [webhook(cool.url, { event_timeout: 3600 }), webhook(always.url)]);
      for (const path of ['/1', '/1', '/2', '/1']) await happen(path);
      await receiver.take(always.path, 4);
      assert.equal((await receiver.take(cool.path, 2)).length, 2);
    });

    test('a webhook attached outside the definition is called until it is removed', async () => {
      const app = current();
      const { path, url } = target();
      const hookId = await createHook(app, { target_path: url });
      const references = [{ event_name: 'AuthFailure', event_timeout: 0, hook: { id: hookId, target_path: url } }];
      const { happen, apiId } = await telling(app, [], { hook_references: references });
      await happen();
      await receiver.take(path);
      await requestOk(app, 'DELETE', `/api/hooks/${hookId}`);
      await happen('/2');
      const [letter] = await eventually(async () => {
        const found = await deliveriesOf(app, `api_id=${apiId}&state=dead`);
        assert.equal(found.length, 1);
        return found;
      });
      assert.equal(letter!.error, `the payload could not be built: the webhook ${hookId} does not exist`);
      assert.equal(receiver.at(path).length, 1);
    });

    test('a method without a body sends none, and an unsupported method becomes GET', async () => {
      const app = current();
      const [get, odd] = [target(), target()];
      const { happen } = await telling(app, [
        webhook(get.url, { method: 'DELETE' }),
        webhook(odd.url, { method: 'BREW' }),
      ]);
      await happen();
      const [[deleted], [got]] = [await receiver.take(get.path), await receiver.take(odd.path)];
      assert.deepEqual([deleted!.method, deleted!.body, got!.method, got!.body], ['DELETE', '', 'GET', '']);
      const { secret } = await requestOk(app, 'GET', '/api/hooks/inline/secret');
      assert.ok(isSigned(got!, secret));
    });

    test('templates come from a file or the definition, and a failing template sends nothing', async () => {
      const app = current();
      const [file, outside, broken, text] = [target(), target(), target(), target()];
      const { happen, apiId } = await telling(app, [
        webhook(file.url, { template_path: 'hooks/short.json' }),
        webhook(outside.url, { template_path: '../gw-outside.json' }),
        webhook(broken.url, { template_path: '{{.Type' }),
        webhook(text.url, { template_path: '{{.Meta.Message}} at {{.TimeStamp}}' }),
      ]);
      await happen();
      assert.equal((await receiver.take(file.path))[0]!.body, '{"what":"AuthFailure"}');
      const [plain] = await receiver.take(text.path);
      assert.match(plain!.body, /^Auth Failure at \d{4}-\d\d-\d\dT/);
      assert.equal(plain!.headers['content-type'], undefined);
      const letters = await deliveriesOf(app, `api_id=${apiId}&state=dead`);
      assert.equal(letters.length, 2);
      assert.ok(letters.some(({ error }) => /is not below templates\.directory/.test(error)));
      assert.ok(letters.some(({ error }) => /line 1/.test(error)));
      assert.equal(receiver.at(outside.path).length + receiver.at(broken.path).length, 0);
    });

    test('client input is escaped in templates, and credentials are not in the payload', async () => {
      const app = current();
      const { path, url } = target();
      const template = '{"path":"{{.Meta.Path}}","request":"{{.Meta.OriginatingRequest}}"}';
      const { happen } = await telling(app, [webhook(url, { template_path: template })]);
      const secret = `canary-${createPublicId()}`;
      await happen(`/it's?api_key=${secret}`, secret, { cookie: secret, 'user-agent': 'tester' });
      const [call] = await receiver.take(path);
      const content = JSON.parse(call!.body) as { path: string; request: string };
      assert.deepEqual(Object.keys(content), ['path', 'request']);
      assert.match(content.path, /\/it&#39;s$/);
      const request = Buffer.from(content.request, 'base64').toString();
      assert.match(request, /^GET \/\S+ HTTP\/1\.1\r\nHost: \S+\r\n(.*\r\n)*user-agent: tester\r\n/i);
      assert.ok(!request.includes(secret));
      const { text } = await app.ask('GET', `/api/deliveries/${idOf(call!)}`);
      assert.ok(!text.includes(secret));
    });

    test('a log handler writes a line, and a handler of an unknown type is reported as unsupported', async () => {
      const app = current();
      const { happen, apiId } = await telling(app, [
        { handler_name: 'eh_log_handler', handler_meta: { prefix: 'seen' } },
        { handler_name: 'eh_unknown_handler', handler_meta: { name: 'onFailure' } },
        { ...webhook('http://127.0.0.1:9/never', { disabled: true }) },
      ]);
      await happen('/here');
      await eventually(() =>
        assert.ok(lines.some(({ msg }) => /^seen:AuthFailure:[0-9a-f]+:127\.0\.0\.1:\/\w+\/here$/.test(msg ?? ''))),
      );
      assert.ok(
        lines.some(it => it.type === 'eh_unknown_handler' && it.msg === 'event handler type unsupported, skipped'),
      );
      const status = await requestOk(app, 'GET', `/api/apis/${apiId}/status`);
      assert.deepEqual(status, {
        api_id: apiId,
        served: true,
        reason: '',
        warnings: [
          'the event handler onFailure of AuthFailure does not run: handlers of type eh_unknown_handler are not supported',
        ],
      });
      assert.equal((await deliveriesOf(app, `api_id=${apiId}`)).length, 0);
    });

    test('a link-local address is not called', async () => {
      const app = current();
      const { happen, api, apiId } = await telling(app, [webhook('http://127.0.0.1:9/latest')]);
      const linkLocal = handling('AuthFailure', webhook('http://169.254.169.254/latest'));
      await storeUnchecked(app, app.credentials.organisation_id, { ...api, ...linkLocal });
      await happen();
      const [letter] = await eventually(async () => {
        const found = await deliveriesOf(app, `api_id=${apiId}&state=dead`);
        assert.equal(found.length, 1);
        return found;
      });
      assert.equal(letter!.status, 0);
      assert.match(letter!.error, /169\.254\.169\.254/);
    });

    test('a flood fills only the queue of its organisation, and dropped deliveries are counted', async () => {
      const app = current();
      const { path, url } = target();
      let open = () => {};
      const held = new Promise<void>(resolve => {
        open = resolve;
      });
      const usual = receiver.answer!;
      receiver.answer = (request, response, body) =>
        request.url === path ? void held.then(() => usual(request, response, body)) : usual(request, response, body);
      const { accessKey: credential } = await app.stranger();
      const api = openApi(upstream, { use_keyless: false, ...handling('AuthFailure', webhook(url)) });
      const made = await app.ask('POST', '/api/apis', { body: { api_definition: api }, credential });
      assert.equal(made.status, 200, made.text);
      await waitUntilApplied(app);
      const countDropped = async () => {
        const { text } = await app.ask('GET', '/metrics', { headers: { 'admin-auth': app.credentials.admin_secret } });
        return Number(/gw_events_dropped_total\{where="queue"\} (\d+)/.exec(text)![1]);
      };
      const before = await countDropped();
      const at = app.url.gateway + api.proxy.listen_path;
      for (let n = 0; n < 30; n++) await fetch(`${at}/${n}`, { headers: { authorization: 'nobody' } });
      await eventually(async () => assert.equal((await countDropped()) - before, 10));
      const { deliveries } = (await app.ask('GET', '/api/deliveries?state=waiting&p=0', { credential })).body;
      assert.equal(deliveries.length, 20);
      open();
      await receiver.take(path, 20);
      receiver.answer = usual;
    });

    test('the example of the guide works as documented, and its check verifies our signatures', async () => {
      const app = current();
      const guide = walkOf('docs/guide/webhooks.md');
      assert.equal(guide.promised.length, 3);
      await guide.run({
        DASHBOARD: app.url.dashboard,
        GATEWAY: app.url.gateway,
        DATA: app.directory,
        RECEIVER: receiver.url,
      });
      const call = receiver.at('/alarm').at(-1)!;
      assert.equal(call.body, '{"text": "Auth Failure from 127.0.0.1"}');
      const [, source] = /```js\n([\s\S]*?)```/.exec(guide.text)!;
      const { isGenuine } = (await import(`data:text/javascript,${encodeURIComponent(source!)}`)) as {
        isGenuine(signature: string, body: string, secret: string, nowSeconds?: number): boolean;
      };
      const { hooks } = await requestOk(app, 'GET', '/api/hooks?p=0');
      const { id } = hooks.find((it: { webhook_id: string }) => it.webhook_id === 'alarm');
      const { secret } = await requestOk(app, 'GET', `/api/hooks/${id}/secret`);
      const signature = String(call.headers['x-gw-signature']);
      assert.equal(isGenuine(signature, call.body, secret), true);
      assert.equal(isGenuine(signature, `${call.body} `, secret), false);
      assert.equal(isGenuine(signature, call.body, `${secret}x`), false);
      assert.equal(isGenuine(signature, call.body, secret, Date.now() / 1000 + 301), false);
    });
  },
  {
    settings: {
      'events.retry_interval_ms': '10',
      'events.max_attempts': '4',
      'events.max_queued': '20',
      'templates.directory': templates,
    },
    onLog: line => void lines.push(JSON.parse(line)),
  },
);
