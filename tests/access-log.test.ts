import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { LoggedCall } from '#analytics/schema.ts';
import { readSettings } from '#base/settings.ts';
import { validateTrafficSettings } from '#gateway/runtime/validate-settings.ts';
import { startApp, type TestApp } from './support/app.ts';
import { walkOf } from './support/doc-commands.ts';
import { freePort } from './support/services/server.ts';
import { eventually, openApi, publish } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

/** A line, whatever its members. */
type Line = Readonly<Record<string, ReturnType<typeof JSON.parse>>>;

/** A loopback address that `gateway.trusted_proxies` names; other requests come from 127.0.0.1. */
const proxyAddress = '127.0.0.9';

describe('Access log and request ids', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gw-access-log-'));
  const path = join(directory, 'access.log');
  let app: TestApp;
  let upstream: Upstream;
  const trafficLog: string[] = [];
  before(async () => {
    const settings = {
      'access_log.output': 'file',
      'access_log.file': path,
      'access_log.query': 'true',
      'access_log.bodies': 'true',
      'gateway.request_id_header': 'X-Request-Id',
      'gateway.trusted_proxies': proxyAddress,
      'metrics.max_apis': '2',
    };
    const onTrafficLog = (lines: string) => trafficLog.push(lines);
    [app, upstream] = await Promise.all([startApp('sqlite', { settings, onTrafficLog }), startUpstream()]);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
    rmSync(directory, { recursive: true });
  });

  const listLines = (): Line[] =>
    readFileSync(path, 'latin1')
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line));
  const waitForLine = (matches: (line: Line) => boolean): Promise<Line> =>
    eventually(() => listLines().find(matches) ?? assert.fail('the line is not written yet'));
  const publishGuarded = (more: Record<string, unknown> = {}) => {
    const api = openApi(upstream, {
      use_keyless: false,
      use_standard_auth: true,
      auth_configs: { authToken: { use_param: true, param_name: 'custom' } },
      ...more,
    });
    return publish(app, api).then(url => ({ url, apiId: api.api_id }));
  };
  const createKey = async (apiId: string) => {
    const { body } = await app.ask('POST', '/api/keys', {
      body: { alias: 'shop', access_rights: { [apiId]: { api_id: apiId, versions: ['Default'] } } },
    });
    return body as { key_id: string; key_hash: string };
  };
  const waitForRecord = (apiId: string) =>
    eventually(async () => {
      const { body } = await app.ask('GET', `/api/logs?start=0&end=9999999999&api_id=${apiId}`);
      assert.equal(body.data.length, 1);
      return body.data[0] as LoggedCall;
    });
  /** Sends from an address of choice; returns the response without its body. */
  const sendFrom = async (localAddress: string, url: string, headers: Record<string, string>) => {
    const sending = request(url, { localAddress, headers, agent: false }).end();
    const [response] = (await once(sending, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    return response;
  };

  test('line, record, metrics and explanation of one request agree', async () => {
    const { url, apiId } = await publishGuarded();
    const { key_id, key_hash } = await createKey(apiId);
    const reply = await fetch(`${url}/things?page=2`, {
      headers: {
        authorization: key_id,
        'user-agent': 'agreement/1',
        referer: 'https://a.example/b?c=d',
        'x-gw-explain': app.credentials.gateway_secret,
      },
    });
    const size = (await reply.arrayBuffer()).byteLength;
    const id = reply.headers.get('x-request-id')!;
    assert.match(id, /^[0-9a-f-]{36}$/);
    assert.equal(upstream.requests.at(-1)!.headers['x-request-id'], id);
    const line = await waitForLine(it => it.request_id === id);
    const record = await waitForRecord(apiId);
    const { id: explanationId } = JSON.parse(reply.headers.get('x-gw-explanation')!);
    const { body: explanation } = await app.ask('GET', `/gw/explain/${explanationId}`);
    const notes: Record<string, unknown>[] = explanation.logs.split('\n').map((it: string) => JSON.parse(it));
    const { body: metrics, text } = await app.ask('GET', '/metrics', {
      headers: { 'admin-auth': app.credentials.admin_secret },
    });
    assert.equal(metrics, undefined);

    assert.deepEqual(
      {
        time: line.time.slice(0, 19),
        path: line.path,
        method: line.method,
        status: line.status,
        client: line.client_address,
        api: [line.api_id, line.api_name, line.org_id],
        key: [line.key_hash, line.alias],
        bytes: [line.bytes_in, line.bytes_out],
        latency: { total: line.duration_ms, upstream: line.upstream_ms, gateway: line.gateway_ms },
        agent: line.user_agent,
        id: line.request_id,
      },
      {
        time: record.timestamp.slice(0, 19),
        path: `${record.raw_path}?page=2`,
        method: record.method,
        status: record.response_code,
        client: record.ip_address,
        api: [record.api_id, record.api_name, record.org_id],
        key: [record.api_key, record.alias],
        bytes: [record.content_length, record.response_length],
        latency: record.latency,
        agent: record.user_agent,
        id: record.request_id,
      },
    );
    assert.deepEqual(
      [line.key_hash, line.upstream_address, line.bytes_out, line.referer, line.protocol],
      [key_hash, upstream.url, size, 'https://a.example/b', 'HTTP/1.1'],
    );
    assert.match(text, new RegExp(`^gw_requests_total\\{api="${apiId}",status="2xx"\\} 1$`, 'm'));
    assert.match(text, new RegExp(`^gw_responses_total\\{api="${apiId}",code="200"\\} 1$`, 'm'));
    assert.match(text, /^gw_access_log_lines_total [1-9]/m);
    const seconds = (name: string) => Number(new RegExp(`^${name}_sum\\{api="${apiId}"\\} (.*)$`, 'm').exec(text)?.[1]);
    for (const [name, ms] of [
      ['gw_request_duration_seconds', line.duration_ms],
      ['gw_upstream_duration_seconds', line.upstream_ms],
      ['gw_gateway_duration_seconds', line.gateway_ms],
    ])
      assert.ok(Math.abs(seconds(name) * 1000 - ms) < 0.002, `${name} ${seconds(name)} ${ms}`);
    const end = notes.find(({ request_id }) => request_id === id)!;
    assert.deepEqual([end.msg, end.api_id], ['the client gets status 200', apiId]);
    assert.ok(notes.some(({ key_hash: hash }) => hash === key_hash));
  });

  test('line, record, metrics and explanation agree on why an upstream failed', async () => {
    const api = openApi({ url: `http://127.0.0.1:${await freePort()}` });
    const url = await publish(app, api);
    const reply = await fetch(url, { headers: { 'x-gw-explain': app.credentials.gateway_secret } });
    const id = reply.headers.get('x-request-id');
    const line = await waitForLine(it => it.request_id === id);
    const record = await waitForRecord(api.api_id);
    const { upstream_error, refusal, status } = line;
    assert.match(upstream_error, /^connection_refused: /);
    assert.deepEqual([upstream_error, refusal, status], [record.upstream_error, record.refusal, record.response_code]);
    assert.equal(status, reply.status);
    const { steps } = JSON.parse(reply.headers.get('x-gw-explanation')!);
    const failed = steps.find(({ step, refusal: code }: Record<string, string>) => step === 'upstream' && code);
    assert.deepEqual([failed.refusal, failed.message.includes(upstream_error)], [refusal, true], failed.message);
    await eventually(async () => {
      const { text } = await app.ask('GET', '/metrics', { headers: { 'admin-auth': app.credentials.admin_secret } });
      const labels = `api="${api.api_id}",reason="connection_refused"`;
      assert.ok(text.includes(`gw_upstream_errors_total{${labels}} 1\n`));
      assert.match(text, new RegExp(`^gw_responses_total\\{api="${api.api_id}",code="${status}"\\} 1$`, 'm'));
    });
  });

  test('the time of an upstream that timed out is its own in line and record, and the log line has the request id', async () => {
    upstream.answer = () => undefined;
    const hard_timeouts = [{ path: '/', method: 'GET', timeout: 1 }];
    const versions = { Default: { name: 'Default', use_extended_paths: true, extended_paths: { hard_timeouts } } };
    const api = openApi(upstream, { version_data: { not_versioned: true, versions } });
    const reply = await fetch(await publish(app, api));
    upstream.answer = undefined;
    const id = reply.headers.get('x-request-id')!;
    const line = await waitForLine(it => it.request_id === id);
    const record = await waitForRecord(api.api_id);
    assert.match(line.upstream_error, /^response_timed_out: /);
    assert.ok(line.upstream_ms > 500, JSON.stringify(line));
    assert.equal(record.latency.upstream, line.upstream_ms);
    const failed = trafficLog.flatMap(lines => lines.split('\n')).find(it => it.includes(id))!;
    const { msg, request_id, api: named } = JSON.parse(failed);
    assert.deepEqual([msg, request_id, named], ['upstream failed', id, api.api_id]);
  });

  test('an id is taken from trusted proxies alone, and replaces that of the upstream in the response', async () => {
    upstream.answer = (received, response) => {
      response.setHeader('X-Request-Id', 'of-the-upstream');
      response.end(String(received.headers['x-request-id']));
    };
    const url = await publish(app, openApi(upstream));
    const send = async (localAddress: string, id: string) => {
      const { headers } = await sendFrom(localAddress, url, { 'X-Request-Id': id });
      assert.equal(headers['x-request-id'], upstream.requests.at(-1)!.headers['x-request-id']);
      return headers['x-request-id'];
    };
    const generated = /^[0-9a-f-]{36}$/;
    assert.equal(await send(proxyAddress, 'edge:1-67891233-abcdef'), 'edge:1-67891233-abcdef');
    assert.match((await send('127.0.0.1', 'of-a-client')) as string, generated);
    for (const malformed of ['has space', '"quoted"', 'x'.repeat(129), ' ', '-leading'])
      assert.match((await send(proxyAddress, malformed)) as string, generated);
    upstream.answer = undefined;
    await waitForLine(({ request_id }) => request_id === 'edge:1-67891233-abcdef');
  });

  test('the context variable, and the parts of a batch with the whole, have the id of the request', async () => {
    const api = openApi(upstream, {
      enable_context_vars: true,
      enable_batch_request_support: true,
      version_data: {
        not_versioned: true,
        versions: { Default: { name: 'Default', global_headers: { 'X-Seen': '$gw_context.request_id' } } },
      },
    });
    const url = await publish(app, api);
    const single = await fetch(url);
    assert.equal(upstream.requests.at(-1)!.headers['x-seen'], single.headers.get('x-request-id'));
    const before = upstream.requests.length;
    const parts = [{ relative_url: '/one' }, { relative_url: '/two', headers: { 'X-Request-Id': 'forged' } }];
    const batch = await fetch(`${url}/gw/batch/`, { method: 'POST', body: JSON.stringify({ requests: parts }) });
    assert.equal(batch.status, 200);
    const seen = upstream.requests.slice(before).map(({ headers }) => [headers['x-request-id'], headers['x-seen']]);
    const id = batch.headers.get('x-request-id');
    assert.deepEqual(seen, [
      [id, id],
      [id, id],
    ]);
  });

  test('requests without a route, refused ones and malformed ones have lines and are counted', async () => {
    assert.equal((await fetch(`${app.url.gateway}/no-such-api?key=secret`)).status, 404);
    const unrouted = await waitForLine(it => it.path === '/no-such-api');
    assert.deepEqual([unrouted.status, unrouted.refusal, unrouted.api_id], [404, 'route_unknown', undefined]);
    const { url } = await publishGuarded();
    assert.equal((await fetch(url)).status, 401);
    const refused = await waitForLine(it => it.refusal === 'auth_field_missing');
    assert.equal(refused.status, 401);
    const { hostname, port } = new URL(app.url.gateway);
    for (const head of ['GET /bad-host?token=s HTTP/1.1\r\nHost: a b', 'NOT HTTP']) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.resume().end(`${head}\r\n\r\n`);
      await once(socket, 'close');
    }
    const invalid = await waitForLine(it => it.path === '/bad-host');
    assert.deepEqual(
      [invalid.status, invalid.client_address, invalid.reason],
      [400, '127.0.0.1', 'the Host header is missing or invalid'],
    );
    await waitForLine(it => it.status === 400 && it.path === undefined);
    await eventually(async () => {
      const { text } = await app.ask('GET', '/metrics', { headers: { 'admin-auth': app.credentials.admin_secret } });
      assert.match(text, /^gw_invalid_requests_total\{code="400"\} 2$/m);
      // The third API with requests, and later ones, have no series of their own.
      assert.match(text, /^gw_responses_total\{api="other",code="401"\} 1$/m);
      assert.match(text, /^gw_gateway_duration_seconds_count\{api="other"\} [1-9]/m);
    });
  });

  test('no key, password or token is in the log', async () => {
    const { url, apiId } = await publishGuarded({
      enable_context_vars: true,
      version_data: {
        not_versioned: true,
        versions: { Default: { name: 'Default', extended_paths: { validate_json: [validateAny] } } },
      },
    });
    const { key_id } = await createKey(apiId);
    const reply = await fetch(`${url}/a?custom=${key_id}&access_token=canary-1&page=7`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key_id}`,
        cookie: 'session=canary-2',
        referer: 'https://me:canary-3@a.example/?token=canary-4',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ name: 'ada', password: 'canary-5' }),
    });
    assert.equal(reply.status, 200);
    const id = reply.headers.get('x-request-id');
    const line = await waitForLine(it => it.request_id === id);
    assert.equal(line.request_body, '{"name":"ada","password":"***"}');
    assert.match(line.path, /\?custom=\*\*\*&access_token=\*\*\*&page=7$/);
    assert.doesNotMatch(readFileSync(path, 'latin1'), new RegExp(`canary-|${key_id}`));
  });
  const validateAny = { method: 'POST', path: '/a', schema: { type: 'object' }, error_response_code: 422 };

  test('the guide works as documented', async () => {
    const guide = walkOf('docs/guide/logging.md');
    assert.equal(guide.promised.length, 3);
    await guide.run({ GATEWAY: app.url.gateway, LOG: path });
  });

  test('a file that was moved or removed is created again; SIGHUP does not end the process', async () => {
    const log = async (name: string) => {
      await fetch(`${app.url.gateway}/${name}`);
      await waitForLine(it => it.path === `/${name}`);
    };
    await log('before-rotation');
    renameSync(path, `${path}.1`);
    process.kill(process.pid, 'SIGHUP');
    await eventually(() => readFileSync(path));
    await log('after-hangup');
    rmSync(path);
    await eventually(() => readFileSync(path));
    await log('after-removal');
    assert.match(readFileSync(`${path}.1`, 'latin1'), /before-rotation/);
  });

  test('a stop writes the lines of all requests', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, (_, at) => fetch(`${app.url.gateway}/last-${at}`)));
    assert.ok(replies.every(({ status }) => status === 404));
    await app.application.close();
    assert.equal(listLines().filter(it => it.path?.startsWith('/last-')).length, 20);
  });
});

test('an access log setting without effect, and a file that cannot be opened, are refused at the start', () => {
  const refuse = (flags: Record<string, string>, pattern: RegExp) =>
    assert.throws(() => validateTrafficSettings(readSettings({ flags })), pattern);
  refuse({ 'access_log.output': 'file' }, /access_log\.file: is needed/);
  refuse({ 'access_log.file': '/tmp/x' }, /needs access_log\.output: file; the output is off/);
  refuse(
    { 'access_log.output': 'file', 'access_log.file': '/no/such/directory/access.log' },
    /access_log\.file: \/no\/such\/directory\/access\.log cannot be opened for writing \(ENOENT\)/,
  );
  refuse(
    { 'access_log.output': 'stdout', 'access_log.format': 'combined', 'access_log.bodies': 'true' },
    /access_log\.bodies: needs access_log\.format: json/,
  );
  for (const wrong of ['101', '-1', '1.2345', 'all'])
    refuse({ 'access_log.sample_share': wrong }, /access_log\.sample_share .*must be a number from 0 to 1/);
});
