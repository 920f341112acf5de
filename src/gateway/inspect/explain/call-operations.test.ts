import assert from 'node:assert/strict';
import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { type Asked, onEveryEngine, startApp } from '../../../../tests/support/app.ts';
import { openApi, publish, waitUntilApplied } from '../../../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../../../tests/support/upstream.ts';
import { explainTokenTtlMs } from './explain-token.ts';
import { summarizeTrace } from './summary.ts';
import { parseSummary, parseTrace, type VisibleStep } from './visible-steps.ts';

onEveryEngine('explained calls through the dashboard', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());

  const explain = (body: object, more: Asked = {}) => app().ask('POST', '/api/explain', { body, ...more });
  const stepsOf = (body: { explanation: { steps: VisibleStep[] } }) => body.explanation.steps;
  const findStep = (body: never, name: string) => stepsOf(body).find(({ step }) => step === name);

  test('the response comes with every step, and neither the caller nor the upstream receives the gateway secret', async () => {
    const definition = openApi(upstream, { enable_ip_blacklisting: true, blacklisted_ips: ['192.0.2.1'] });
    const url = await publish(app(), definition);
    const call = { method: 'POST', url: `${url}/orders?a=1`, headers: { 'X-Own': 'a' }, body: { b: 1 } };
    const { status, text, body } = await explain(call);
    assert.deepEqual(
      [status, body.status_code, body.body.url, body.body.body],
      [200, 200, '/orders?a=1', '{"b":1}'],
      text,
    );
    assert.equal(body.explanation.is_complete, true);
    assert.match(body.explanation.id, /^[0-9a-f]{32}$/);
    const ip = findStep(body as never, 'ip-access');
    assert.equal(ip?.message, 'passed');
    assert.equal(ip?.api_id, definition.api_id);
    assert.deepEqual((ip!.settings as { ipAccess: object }).ipAccess, {
      enabled: true,
      block: ['192.0.2.1'],
      blockEnabled: true,
    });
    assert.deepEqual(
      stepsOf(body)
        .filter(({ step }) => step === 'upstream')
        .map(({ phase, status: code }) => [phase, code]),
      [
        ['request', undefined],
        ['response', 200],
      ],
    );
    assert.ok(!text.includes(app().credentials.gateway_secret));
    assert.equal(body.headers['x-gw-explanation'], undefined);
    assert.deepEqual([body.body.headers['x-gw-explain'], body.body.headers['x-own']], [undefined, 'a']);
  });

  test('a refusal names its step, its code and the meaning of the code', async () => {
    const url = await publish(app(), openApi(upstream, { use_keyless: false, use_standard_auth: true }));
    const { body } = await explain({ method: 'GET', url });
    assert.equal(body.status_code, 401);
    const token = findStep(body as never, 'token');
    assert.deepEqual(
      [token?.status, token?.refusal, token?.about],
      [401, 'auth_field_missing', 'The request has no key.'],
    );
  });

  test('a secret that the caller sends is refused', async () => {
    const url = await publish(app(), openApi(upstream));
    const { status, body } = await explain({ method: 'GET', url, headers: { 'X-Gw-Explain': 'a guess' } });
    assert.deepEqual([status, body.Message], [400, 'headers.X-Gw-Explain: is not forwarded']);
  });

  test('an explanation header of an upstream is neither returned nor parsed', async () => {
    const url = await publish(app(), openApi(upstream));
    const forged = JSON.stringify({ id: 'forged', steps: [{ step: 'forged', message: 'forged' }] });
    upstream.answer = (_request, response) => void response.writeHead(200, { 'x-gw-explanation': forged }).end('ok');
    const { body, text } = await explain({ method: 'GET', url });
    upstream.answer = undefined;
    assert.equal(body.status_code, 200);
    assert.ok(findStep(body as never, 'version'));
    assert.ok(!text.includes('forged'), text);
  });

  test('an API of another organisation is neither called nor named as a near miss, and an own one is', async () => {
    const listenPath = `/Shop${createPublicId()}/`;
    await publish(app(), openApi(upstream, { proxy: { listen_path: listenPath } }));
    const { accessKey: credential } = await app().stranger();
    const other = `${app().url.gateway}${listenPath.toLowerCase()}`;
    assert.equal((await explain({ method: 'GET', url: app().url.gateway + listenPath }, { credential })).status, 403);
    const foreign = await explain({ method: 'GET', url: other }, { credential });
    assert.equal(foreign.body.status_code, 404);
    assert.equal(
      findStep(foreign.body as never, 'route')?.message,
      `no API has a listen path for ${listenPath.toLowerCase()}`,
    );
    assert.ok(!foreign.text.includes(listenPath));
    const own = await explain({ method: 'GET', url: other });
    assert.match(findStep(own.body as never, 'route')!.message, new RegExp(`; there is one at ${listenPath}$`));
  });

  test('steps of an API that the caller does not own are left out', async () => {
    const inner = openApi(upstream, { internal: true, name: `Inner ${createPublicId()}` });
    const owner = (await app().ask('GET', '/api/users/me')).body.id;
    const created = await app().ask('POST', '/api/apis', { body: { api_definition: inner, user_owners: [owner] } });
    assert.equal(created.status, 200, created.text);
    const outer = openApi({ url: `gw://${inner.api_id}/` });
    const url = await publish(app(), outer);
    await waitUntilApplied(app());
    const user = { email_address: `${createPublicId()}@example.org`, first_name: 'A', last_name: 'B', active: true };
    const made = await app().ask('POST', '/admin/users', { body: { ...user, user_permissions: { apis: 'write' } } });
    const { body, text } = await explain({ method: 'GET', url }, { credential: made.body.Message });
    assert.equal(body.status_code, 200, text);
    assert.equal(body.explanation.is_complete, false);
    assert.ok(!JSON.stringify(body.explanation).includes(inner.api_id), text);
    assert.ok(stepsOf(body).some(({ api_id }) => api_id === outer.api_id));
    const whole = await explain({ method: 'GET', url });
    assert.equal(whole.body.explanation.is_complete, true);
    assert.ok(stepsOf(whole.body).some(({ api_id }) => api_id === inner.api_id));
  });

  test('a caller without permission to write APIs is refused', async () => {
    const user = { email_address: `${createPublicId()}@example.org`, first_name: 'A', last_name: 'B', active: true };
    const made = await app().ask('POST', '/admin/users', { body: { ...user, user_permissions: { apis: 'read' } } });
    const { status } = await explain({ method: 'GET', url: app().url.gateway }, { credential: made.body.Message });
    assert.equal(status, 403);
  });
});

test('a proxy in front of the gateway receives a token for one request and a few seconds, never the gateway secret', async () => {
  const clock = { ms: Date.now(), now: () => clock.ms };
  const received: string[] = [];
  let gateway = '';
  /** Sends a request to the gateway; resolves to its status and whether it was explained. */
  const send = (token: string, { method = 'GET', path = '', host = '127.0.0.1' }) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ status?: number | undefined; summary: string }>();
    const headers = { host, 'x-gw-explain': token };
    const sent = sendRequest(gateway + path, { method, headers, agent: false }, response => {
      response.resume().once('end', () => {
        resolve({ status: response.statusCode, summary: String(response.headers['x-gw-explanation'] ?? '') });
      });
    });
    sent.once('error', reject).end();
    return promise;
  };
  const proxy = createServer(async (request, response) => {
    const token = String(request.headers['x-gw-explain']);
    received.push(token);
    const path = request.url!.replace(/^\/edge/, '');
    const { status, summary } = await send(token, { path, host: request.headers.host! });
    response.writeHead(status!, { 'x-gw-explanation': summary }).end();
  });
  await new Promise<void>(resolve => void proxy.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/edge`;
  const upstream = await startUpstream();
  const app = await startApp('sqlite', { clock, settings: { 'gateway.url': base } });
  try {
    gateway = app.url.gateway;
    const definition = openApi(upstream);
    await publish(app, definition);
    const path = `${definition.proxy.listen_path}/orders`;
    const { body, text } = await app.ask('POST', '/api/explain', {
      body: { method: 'GET', url: `${base}${path}?a=1` },
    });
    assert.equal(body.status_code, 200, text);
    assert.ok(stepsIn(body).includes('version'), text);
    assert.equal(received.length, 1);
    const [token] = received as [string];
    assert.ok(!token.includes(app.credentials.gateway_secret));
    assert.equal((await app.ask('GET', '/gw/apis', { credential: token })).status, 403);
    const isExplained = async (request: Parameters<typeof send>[1]) => (await send(token, request)).summary !== '';
    assert.equal(await isExplained({ path }), true);
    assert.equal(await isExplained({ path: `${path}2` }), false, 'another path');
    assert.equal(await isExplained({ path, method: 'POST' }), false, 'another method');
    assert.equal(await isExplained({ path, host: 'other.example' }), false, 'another host');
    clock.ms += explainTokenTtlMs + 1;
    assert.equal(await isExplained({ path }), false, 'expired');
  } finally {
    await app.close();
    await upstream.close();
    proxy.close();
    proxy.closeAllConnections();
  }
});

const stepsIn = (body: { explanation: { steps: VisibleStep[] } }) => body.explanation.steps.map(({ step }) => step);

describe('steps of an explanation', () => {
  const line = (more: object) => JSON.stringify({ level: 'info', type: 'request', time: '', api_name: '', ...more });
  const trace = [
    line({ mw: 'version', msg: 'version: a', api_id: 'a', org_id: 'o', took_ms: 1 }),
    line({ mw: 'cors', msg: 'passed', api_id: 'a', org_id: 'o' }),
    line({ mw: 'version', msg: 'version: b', api_id: 'b', org_id: 'o' }),
    line({ msg: 'done', api_id: '', org_id: '' }),
  ].join('\n');

  test('the summary in the header keeps the API of each step', () => {
    const summary = parseSummary(summarizeTrace('7', trace));
    assert.equal(summary?.id, '7');
    assert.deepEqual(
      summary?.steps.map(({ step, api_id }) => [step, api_id]),
      [
        ['version', 'a'],
        ['cors', 'a'],
        ['version', 'b'],
      ],
    );
  });

  test('a near miss is cut from a summary, which does not name its API', () => {
    const route = line({ mw: 'route', msg: 'no API has a listen path for /a; there is one at /A', api_id: '' });
    assert.equal(parseSummary(summarizeTrace('7', route))?.steps[0]?.message, 'no API has a listen path for /a');
  });

  test('a header that is no summary is none', () => {
    for (const header of ['', 'x', '{"id":', '{"id":7}', '{"id":"a","steps":[{}]}', '[]'])
      assert.equal(parseSummary(header), undefined, header);
  });

  test('only steps of visible APIs are listed', () => {
    const { steps, is_complete } = parseTrace(trace, { canSee: (apiId, orgId) => apiId === 'a' && orgId === 'o' });
    assert.deepEqual([steps.map(({ step }) => step), is_complete], [['version', 'cors'], false]);
    assert.equal(parseTrace(trace, { canSee: () => true }).is_complete, true);
  });
});
