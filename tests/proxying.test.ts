import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { eventually, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

describe('Proxying', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    [app, upstream] = await Promise.all([
      startApp('sqlite', { settings: { 'upstream.timeout_ms': '300' } }),
      startUpstream(),
    ]);
  });
  after(async () => {
    await app.close();
    await upstream.close();
  });
  const fetchEcho = async (url: string, init: RequestInit = {}) => {
    upstream.answer = undefined;
    const reply = await fetch(url, init);
    return {
      status: reply.status,
      headers: reply.headers,
      body: (await reply.json()) as Record<string, ReturnType<typeof JSON.parse>>,
    };
  };

  test('an API defined through the dashboard is served, changed and removed without a reload', async () => {
    const definition = openApi(upstream);
    const url = await publish(app, definition);
    assert.equal((await fetchEcho(`${url}/a`)).body.url, '/a');
    const moved = { ...definition, proxy: { ...definition.proxy, target_url: `${upstream.url}/v2` } };
    await app.ask('PUT', `/api/apis/${definition.api_id}`, { body: { api_definition: moved } });
    await waitUntilApplied(app);
    assert.equal((await fetchEcho(`${url}/a`)).body.url, '/v2/a');
    const inactive = { ...moved, active: false };
    await app.ask('PUT', `/api/apis/${definition.api_id}`, { body: { api_definition: inactive } });
    await waitUntilApplied(app);
    assert.equal((await fetch(`${url}/a`)).status, 404);
    await app.ask('DELETE', `/api/apis/${definition.api_id}`);
    await waitUntilApplied(app);
    const gone = await fetch(`${url}/a`);
    assert.equal(gone.status, 404);
    assert.equal(await gone.text(), 'Not Found');
  });

  const joins: readonly [strip: boolean, target: string, asked: string, received: string][] = [
    [true, '', '/x/y?q=1', '/x/y?q=1'],
    [true, '/base', '/x/', '/base/x/'],
    [true, '/base/', '/', '/base'],
    [true, '/base?a=1', '/x?b=2', '/base/x?a=1&b=2'],
    [true, '', '/', '/'],
    [false, '/base', '/x', '/base{lp}/x'],
  ];
  for (const [strip, target, asked, received] of joins) {
    test(`${strip ? 'stripped' : 'kept'} listen path, target ${target || '/'}: ${asked} reaches ${received}`, async () => {
      const definition = openApi(upstream, { proxy: { target_url: upstream.url + target, strip_listen_path: strip } });
      const url = await publish(app, definition);
      assert.equal((await fetchEcho(url + asked)).body.url, received.replace('{lp}', definition.proxy.listen_path));
    });
  }

  test('a request cannot leave the target path in any encoding', async () => {
    const url = new URL(await publish(app, openApi(upstream, { proxy: { target_url: `${upstream.url}/base` } })));
    for (const path of [
      '/../secret',
      '/x/../../secret',
      '/%2e%2e/secret',
      '/x/%2e%2e/%2e%2e/secret',
      '/..;/secret',
      '//secret',
    ]) {
      const { status, received } = await raw(url, path);
      assert.ok(status === 404 || status === 400 || received?.startsWith('/base/'), `${path}: ${status} ${received}`);
    }
  });

  /** Sends a path as it is, past any client that would tidy it. */
  async function raw(url: URL, path: string): Promise<{ status: number; received: string | undefined }> {
    const seen = upstream.requests.length;
    const request = httpRequest({ host: url.hostname, port: url.port, path: url.pathname + path });
    request.end();
    const [response] = await once(request, 'response');
    response.resume();
    await once(response, 'end');
    return { status: response.statusCode, received: upstream.requests[seen]?.url };
  }

  test('hop-by-hop headers are not forwarded, and forwarding headers of the client are replaced', async () => {
    const url = await publish(app, openApi(upstream));
    const sent = {
      connection: 'x-drop, authorization',
      'x-drop': '1',
      authorization: 'keep me',
      'proxy-authorization': 'secret',
      'x-forwarded-for': '1.2.3.4',
      x_forwarded_for: '1.2.3.4',
      'x-real-ip': '1.2.3.4',
      forwarded: 'for=1.2.3.4',
      'x-forwarded-prefix': '/evil',
      'X-Custom': 'stays',
    };
    const request = httpRequest(`${url}/h`, { headers: sent });
    request.end();
    const [response] = await once(request, 'response');
    response.resume();
    const { headers } = upstream.requests.at(-1)!;
    assert.equal(headers['x-drop'], undefined);
    assert.equal(headers.authorization, 'keep me');
    assert.equal(headers['proxy-authorization'], undefined);
    assert.equal(headers['x-forwarded-for'], '127.0.0.1');
    assert.equal(headers.x_forwarded_for, undefined);
    assert.equal(headers['x-real-ip'], '127.0.0.1');
    assert.equal(headers.forwarded, undefined);
    assert.equal(headers['x-forwarded-prefix'], undefined);
    assert.equal(headers['x-custom'], 'stays');
  });

  test('the host header is the target’s, or the client’s with preserve_host_header', async () => {
    const plain = await publish(app, openApi(upstream));
    assert.equal((await fetchEcho(plain)).body.headers.host, new URL(upstream.url).host);
    const kept = await publish(app, openApi(upstream, { proxy: { preserve_host_header: true } }));
    assert.equal((await fetchEcho(kept)).body.headers.host, new URL(kept).host);
  });

  test('bodies of any size pass in both directions, with and without a content-length', async () => {
    const url = await publish(app, openApi(upstream));
    upstream.answer = (_request, response, body) => response.end(body);
    for (const size of [0, 1, 1000, 3_000_000]) {
      const body = 'x'.repeat(size);
      assert.equal(await (await fetch(url, { method: 'POST', body })).text(), body);
    }
    const chunks = new ReadableStream({
      start(controller) {
        for (let n = 0; n < 50; n++) controller.enqueue(new TextEncoder().encode('chunk'));
        controller.close();
      },
    });
    const reply = await fetch(url, { method: 'POST', body: chunks, duplex: 'half' } as RequestInit);
    assert.equal(await reply.text(), 'chunk'.repeat(50));
  });

  test('a response without a content-length is streamed chunk by chunk', async () => {
    const url = await publish(app, openApi(upstream));
    const more = Promise.withResolvers<void>();
    upstream.answer = async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: one\n\n');
      await more.promise;
      response.end('data: two\n\n');
    };
    const reply = await fetch(url);
    const reader = reply.body!.getReader();
    assert.equal(new TextDecoder().decode((await reader.read()).value), 'data: one\n\n');
    more.resolve();
    assert.equal(new TextDecoder().decode((await reader.read()).value), 'data: two\n\n');
    assert.equal((await reader.read()).done, true);
  });

  test('a client disconnect aborts the upstream request', async () => {
    const url = await publish(app, openApi(upstream));
    const closed = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    upstream.answer = (request, response) => {
      response.writeHead(200);
      response.write('begun');
      request.socket.once('close', () => closed.resolve());
      arrived.resolve();
    };
    const leaving = new AbortController();
    const reply = await fetch(url, { signal: leaving.signal });
    await arrived.promise;
    leaving.abort();
    await closed.promise;
    assert.equal(reply.status, 200);
  });

  test('a failing, a slow and an unresolvable upstream have different errors', async () => {
    const refused = await publish(app, openApi({ url: 'http://127.0.0.1:1' }));
    const failed = await fetch(refused);
    assert.equal(failed.status, 502);
    assert.equal(await failed.text(), '{\n    "error": "There was a problem proxying the request"\n}');
    const unknown = await publish(app, openApi({ url: 'http://no-such-host.invalid' }));
    const lost = await fetch(unknown);
    assert.equal(lost.status, 502);
    assert.deepEqual(await lost.json(), { error: 'Upstream host lookup failed' });
    const slow = await publish(app, openApi(upstream));
    upstream.answer = () => undefined;
    const late = await fetch(slow);
    assert.equal(late.status, 504);
    assert.deepEqual(await late.json(), { error: 'Upstream service reached hard timeout.' });
  });

  test('the reason of an upstream failure is in the log, its CSV form and the metrics, and in no response', async () => {
    const failures: readonly [target: string, status: number, answer: Upstream['answer'], error: RegExp][] = [
      ['http://127.0.0.1:1', 502, undefined, /^connection_refused: connect ECONNREFUSED 127\.0\.0\.1:1$/],
      ['http://no-such-host.invalid', 502, undefined, /^name_not_resolved: getaddrinfo \w+ no-such-host\.invalid$/],
      [upstream.url, 504, () => undefined, /^response_timed_out: no response head in 300 ms$/],
      [upstream.url, 502, request => void request.socket.destroy(), /^connection_reset: the upstream closed/],
      [upstream.url, 502, request => void request.socket.end('nonsense\r\n\r\n'), /^invalid_response: \S/],
    ];
    for (const [target, status, answer, error] of failures) {
      const definition = openApi({ url: target });
      const url = await publish(app, definition);
      upstream.answer = answer;
      const reply = await fetch(url);
      assert.equal(reply.status, status, target);
      assert.doesNotMatch(await reply.text(), /127\.0\.0\.1|invalid|ECONN|ms/);
      const list = `/api/logs?start=0&end=9999999999&api_id=${definition.api_id}`;
      const logged = await eventually(async () => {
        const { body } = await app.ask('GET', list);
        assert.equal(body.data.length, 1);
        return body.data[0];
      });
      assert.match(logged.upstream_error, error);
      const [head, line] = (await app.ask('GET', `${list}&type=csv`)).text.split('\r\n');
      assert.equal(line!.split(',')[head!.split(',').indexOf('upstream_error')], logged.upstream_error);
      const reason = logged.upstream_error.split(':')[0];
      await eventually(async () => {
        const headers = { 'admin-auth': app.credentials.admin_secret };
        const metrics = await (await fetch(`${app.url.dashboard}/metrics`, { headers })).text();
        const series = `gw_upstream_errors_total{api="${definition.api_id}",reason="${reason}"} 1`;
        assert.ok(metrics.split('\n').includes(series), reason);
      });
    }
  });

  test('a response that the upstream truncates is recorded with the reason', async () => {
    const definition = openApi(upstream);
    const url = await publish(app, definition);
    upstream.answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    };
    await assert.rejects(fetch(url).then(reply => reply.text()));
    await eventually(async () => {
      const { body } = await app.ask('GET', `/api/logs?start=0&end=9999999999&api_id=${definition.api_id}`);
      assert.deepEqual(
        body.data.map((it: { upstream_error: string }) => it.upstream_error),
        ['connection_reset: the upstream closed the connection'],
      );
    });
  });

  test('an incomplete upstream response is incomplete for the client', async () => {
    const url = await publish(app, openApi(upstream));
    upstream.answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    };
    await assert.rejects(fetch(url).then(reply => reply.text()));
  });

  test('an idempotent request on a stale pooled connection is retried once', async () => {
    const url = await publish(app, openApi(upstream));
    upstream.answer = (_request, response, body) => {
      response.end(body || 'ok');
      response.socket?.destroySoon();
    };
    for (let n = 0; n < 20; n++) assert.equal(await (await fetch(url)).text(), 'ok');
  });

  test('errors have the client’s format', async () => {
    const url = await publish(app, openApi({ url: 'http://127.0.0.1:1' }));
    const reply = await fetch(url, { method: 'POST', headers: { 'content-type': 'text/xml' }, body: '<a/>' });
    assert.equal(reply.headers.get('content-type'), 'text/xml');
    assert.match(await reply.text(), /<error>There was a problem proxying the request<\/error>/);
  });

  test('requests are balanced over the targets by weight', async () => {
    const other = await startUpstream();
    const definition = openApi(upstream, {
      proxy: { enable_load_balancing: true, target_list: [upstream.url, other.url, other.url] },
    });
    const url = await publish(app, definition);
    upstream.answer = undefined;
    const before = upstream.requests.length;
    for (let n = 0; n < 9; n++) await (await fetch(url)).text();
    assert.equal(upstream.requests.length - before, 3);
    assert.equal(other.requests.length, 6);
    await other.close();
  });

  test('a target without a scheme uses the protocol of the API, and a definition without targets is refused', async () => {
    const createBalancedApi = (target_list: string[]) =>
      openApi({ url: 'http://unused.invalid' }, { proxy: { enable_load_balancing: true, target_list } });
    const url = await publish(app, createBalancedApi([`127.0.0.1:${upstream.port}/bare`]));
    assert.equal((await fetchEcho(`${url}/x`)).body.url, '/bare/x');
    const alone = { target_url: '', enable_load_balancing: true, target_list: [`${upstream.url}/alone`] };
    assert.equal((await fetchEcho(await publish(app, openApi(upstream, { proxy: alone })))).body.url, '/alone');
    const refused = await app.ask('POST', '/api/apis', { body: { api_definition: createBalancedApi([]) } });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /target_list: must name at least one target/);
  });

  test('an unchanged API keeps its state while others change, including its round-robin position', async () => {
    const targets = ['/one', '/two', '/three'].map(path => upstream.url + path);
    const url = await publish(app, openApi(upstream, { proxy: { enable_load_balancing: true, target_list: targets } }));
    const reached = new Set<string>();
    for (const _ of targets) {
      reached.add((await fetchEcho(url)).body.url);
      await publish(app, openApi(upstream));
    }
    assert.deepEqual([...reached].sort(), ['/one', '/three', '/two']);
  });

  test('User-Agent is forwarded, and set to the gateway’s when absent', async () => {
    const url = await publish(app, openApi(upstream));
    assert.equal((await fetchEcho(url, { headers: { 'user-agent': 'mine/1' } })).body.headers['user-agent'], 'mine/1');
    const asked = httpRequest(url).end();
    const [response] = await once(asked, 'response');
    response.resume();
    assert.equal(upstream.requests.at(-1)!.headers['user-agent'], 'Gatewright');
  });

  test('request trailers are not forwarded', async () => {
    const url = await publish(app, openApi(upstream));
    upstream.answer = (request, response, body) =>
      response.end(JSON.stringify([body, request.trailers, request.headers['x-late'], request.headers.trailer]));
    const asked = httpRequest(url, { method: 'POST', headers: { trailer: 'X-Late', 'transfer-encoding': 'chunked' } });
    asked.addTrailers({ 'X-Late': '1', Authorization: 'late' });
    asked.end('whole');
    const [response] = await once(asked, 'response');
    assert.equal(await text(response), '["whole",{},null,null]');
  });

  test('a loop runs the chain of the other API, up to a limit', async () => {
    const inner = openApi(upstream, {
      name: 'Inner one #tag',
      internal: true,
      proxy: { target_url: `${upstream.url}/inner` },
    });
    await publish(app, inner);
    assert.equal((await fetch(app.url.gateway + inner.proxy.listen_path)).status, 404);
    await publish(app, openApi(upstream, { name: 'Inner & two', proxy: { target_url: `${upstream.url}/inner` } }));
    const names = ['gw://inner-one/in', 'gw://Inner-One/in', 'gw://inner---two/in', 'gw://inner-two/in'];
    for (const target of [`gw://${inner.api_id}/in`, ...names]) {
      const url = await publish(app, openApi({ url: target }));
      assert.equal((await fetchEcho(`${url}/x`)).body.url, '/inner/in/x');
    }
    const listenUrl = await publish(app, openApi({ url: `gw://${inner.api_id}/in?method=PUT&a=1&check_limits=true` }));
    const changed = (await fetchEcho(`${listenUrl}/x?mine=gone`)).body;
    assert.deepEqual([changed.method, changed.url], ['PUT', '/inner/in/x?a=1']);
    const short = await publish(app, openApi({ url: 'gw://self/?loop_limit=2' }));
    assert.match(await (await fetch(short)).text(), /more than 2 loops/);
    const endless = await publish(app, openApi({ url: 'gw://self/' }));
    const reply = await fetch(endless);
    assert.equal(reply.status, 500);
    assert.deepEqual(await reply.json(), { error: 'Loop level too deep. Found more than 5 loops in single request' });
    const unknown = await publish(app, openApi({ url: 'gw://nobody/' }));
    assert.deepEqual(await (await fetch(unknown)).json(), { error: "Couldn't detect target" });
  });

  test('an API with an unsupported feature is not served', async () => {
    const url = await publish(app, openApi(upstream, { use_keyless: false, custom_plugin_auth_enabled: true }));
    const reply = await fetch(url);
    assert.equal(reply.status, 503);
    assert.match(((await reply.json()) as { error: string }).error, /not available/);
  });

  test('pipelined requests are answered in order', async () => {
    const url = new URL(await publish(app, openApi(upstream)));
    upstream.answer = (request, response) => response.end(request.url);
    const socket = connect(Number(url.port), url.hostname);
    let received = '';
    socket.on('data', chunk => {
      received += chunk;
    });
    for (const name of ['one', 'two', 'three']) socket.write(`GET ${url.pathname}/${name} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await eventually(() => assert.match(received, /\/one[\s\S]*\/two[\s\S]*\/three/));
    socket.destroy();
  });
});
