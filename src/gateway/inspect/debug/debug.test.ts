import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { type Answer, onEveryEngine, startApp, type TestApp } from '../../../../tests/support/app.ts';
import { openApi, publish } from '../../../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../../../tests/support/upstream.ts';

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly time: string;
  readonly type: string;
  readonly mw?: string;
  readonly code?: number;
  readonly refusal?: string;
  readonly api_id: string;
  readonly api_name: string;
  readonly org_id: string;
  readonly key_hash?: string;
  readonly took_ms?: number;
  readonly about?: string;
}

const linesOf = ({ body }: Answer): Line[] => body.logs.split('\n').map((line: string) => JSON.parse(line));
const lineOf = (response: Answer, wanted: Partial<Line>): Line => {
  const found = linesOf(response).find(line =>
    Object.entries(wanted).every(([name, value]) => line[name as keyof Line] === value),
  );
  assert.ok(found, `no line with ${JSON.stringify(wanted)} in ${response.body.logs}`);
  return found;
};

/** The two halves of the text. */
function partsOf({ status, text, body }: Answer): [request: string, response: string] {
  assert.equal(status, 200, text);
  const parts = /^====== Request ======\n(.*)\n====== Response ======\n(.*)$/s.exec(body.response);
  assert.ok(parts, body.response);
  return [parts[1]!, parts[2]!];
}

const debug = (app: TestApp, body: unknown) => app.ask('POST', '/gw/debug', { body });

const document = (upstream: Upstream, server: object = {}) => ({
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1' },
  paths: { '/orders/{id}': { get: { operationId: 'getOrder', responses: { 200: { description: 'One' } } } } },
  'x-gw-api-gateway': {
    info: { name: 'Orders', id: createPublicId(), state: { active: true } },
    server: { listenPath: { value: '/orders-api/', strip: true }, ...server },
    upstream: { url: upstream.url },
  },
});

let upstream: Upstream;
before(async () => {
  upstream = await startUpstream();
});
after(() => upstream.close());

onEveryEngine('testing a definition', app => {
  test('a classic definition: the request is forwarded as traffic, and request and response are dumped', async () => {
    const spec = openApi(upstream, { name: 'Shop', active: false });
    const request = {
      method: 'POST',
      path: '/things?n=1',
      body: '{"a":1}',
      headers: { 'X-Two': ['one', 'two'], 'X-Plain': 'text', 'Content-Type': ['application/json'] },
    };
    const response = await debug(app(), { spec, request });
    const [sent, got] = partsOf(response);
    assert.deepEqual(Object.keys(response.body).sort(), ['logs', 'message', 'response']);
    assert.equal(response.body.message, 'ok');
    assert.match(sent, /^POST \/things\?n=1 HTTP\/1\.1\r\n/);
    assert.match(sent, /\r\nX-Two: one\r\nX-Two: two\r\nX-Plain: text\r\n/);
    assert.match(sent, /\r\nX-Forwarded-For: 127\.0\.0\.1\r\n/);
    assert.ok(sent.endsWith('\r\n\r\n{"a":1}'), sent);
    assert.match(got, /^HTTP\/1\.1 200 OK\r\n/);
    const [, body] = got.split('\r\n\r\n');
    const echoed = JSON.parse(body!);
    assert.equal(echoed.method, 'POST');
    assert.equal(echoed.url, '/things?n=1');
    assert.equal(echoed.body, '{"a":1}');
    assert.equal(echoed.headers['x-two'], 'one, two');
    const line = lineOf(response, { mw: 'upstream', type: 'response' });
    assert.equal(line.code, 200);
    assert.equal(line.api_id, spec.api_id);
    assert.equal(line.api_name, 'Shop');
    assert.ok(line.org_id !== '' && !Number.isNaN(Date.parse(line.time)) && line.level === 'info');
    for (const each of linesOf(response)) assert.match(each.type, /^(request|response)$/);
  });

  test('an OpenAPI definition takes precedence over a classic one in the same request', async () => {
    const oas = document(upstream);
    const spec = openApi(upstream, { name: 'Other' });
    for (const sent of [{ oas }, { oas, spec }, { oas, spec: null }]) {
      const response = await debug(app(), { ...sent, request: { method: 'get', path: 'orders/7' } });
      const [forwarded, got] = partsOf(response);
      assert.match(forwarded, /^GET \/orders\/7 HTTP\/1\.1\r\n/);
      assert.match(got, /^HTTP\/1\.1 200 OK\r\n/);
      assert.equal(lineOf(response, { mw: 'upstream', type: 'response' }).api_name, 'Orders');
    }
  });

  test('a refusal is traced with step, status, code, message and duration', async () => {
    const spec = openApi(upstream, { use_keyless: false, auth: { auth_header_name: 'Authorization' } });
    const response = await debug(app(), { spec, request: { method: 'GET', path: '/' } });
    const [sent, got] = partsOf(response);
    assert.equal(response.body.message, 'ok');
    assert.equal(sent, `GET ${spec.proxy.listen_path}/ HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    assert.match(got, /^HTTP\/1\.1 401 Unauthorized\r\n.*"error": "Authorization field missing"/s);
    const line = lineOf(response, { mw: 'token', code: 401 });
    assert.equal(line.refusal, 'auth_field_missing');
    assert.equal(line.msg, 'refused with 401: Authorization field missing');
    assert.equal(line.about, 'The request has no key.');
    assert.equal(typeof line.took_ms, 'number');
    assert.equal(lineOf(response, { msg: 'the client gets status 401' }).refusal, 'auth_field_missing');
    assert.ok(!linesOf(response).some(each => each.mw === 'upstream'));
  });

  test('every step that ran is traced in order with its decision and duration', async () => {
    const spec = openApi(upstream, {
      global_rate_limit: { rate: 2, per: 60 },
      response_processors: [{ name: 'header_injector', options: { add_headers: { 'X-Seen': 'yes' } } }],
      CORS: { enable: true, allowed_origins: ['https://a.example'] },
    });
    const response = await debug(app(), { spec, request: { path: '/', headers: { Origin: 'https://a.example' } } });
    assert.match(partsOf(response)[1], /^HTTP\/1\.1 200 OK\r\n.*X-Seen: yes\r\n/is);
    const stepLines = linesOf(response).filter(({ mw }) => mw);
    for (const line of stepLines) {
      assert.notEqual(line.msg, '');
      if (line.msg.startsWith('sent ')) continue;
      assert.equal(typeof line.took_ms, 'number', line.msg);
    }
    const steps = stepLines.map(({ mw, type }) => `${type} ${mw}`);
    const wanted = [
      'request version',
      'request cors',
      'request api-limits',
      'request upstream',
      'response upstream',
      'response response-headers',
    ];
    assert.deepEqual(
      steps.filter(step => wanted.includes(step)),
      wanted,
    );
    assert.equal(lineOf(response, { mw: 'api-limits' }).msg, 'passed');
  });

  test('stored keys authenticate; the trace contains only their hash', async () => {
    const spec = openApi(upstream, { use_keyless: false, auth: { auth_header_name: 'Authorization' } });
    await publish(app(), spec);
    const key = await app().ask('POST', '/api/keys', { body: { access_rights: { [spec.api_id]: rights(spec) } } });
    assert.equal(key.status, 200, key.text);
    const request = { path: '/in', headers: { Authorization: [key.body.key_id] } };
    const response = await debug(app(), { spec, request });
    assert.match(partsOf(response)[1], /^HTTP\/1\.1 200 OK/);
    assert.equal(lineOf(response, { mw: 'token' }).key_hash, key.body.key_hash);
    assert.ok(!response.body.logs.includes(key.body.key_id));

    const wrong = await debug(app(), {
      spec,
      request: { ...request, headers: { Authorization: 'wrong-key-entirely' } },
    });
    assert.match(partsOf(wrong)[1], /^HTTP\/1\.1 403 Forbidden/);
    assert.equal(lineOf(wrong, { mw: 'token', code: 403 }).refusal, 'key_not_found');
    lineOf(wrong, { msg: 'Auth Failure (would emit AuthFailure)' });
    assert.ok(!wrong.body.logs.includes('wrong-key-entirely'));
  });

  test('a debug run stores, publishes and counts nothing', async () => {
    const spec = openApi(upstream, { global_rate_limit: { rate: 2, per: 3600 } });
    const url = await publish(app(), spec);
    const known = (await app().ask('GET', '/api/apis?p=-1')).text;
    for (let n = 0; n < 3; n++) {
      const response = await debug(app(), { spec, request: { path: '/' } });
      assert.match(partsOf(response)[1], /^HTTP\/1\.1 200 OK/);
    }
    assert.equal((await fetch(`${url}/`)).status, 200);
    assert.equal((await fetch(`${url}/`)).status, 200);
    assert.equal((await fetch(`${url}/`)).status, 429);
    const fresh = openApi(upstream);
    partsOf(await debug(app(), { spec: fresh, request: { path: '/' } }));
    assert.equal((await fetch(app().url.gateway + fresh.proxy.listen_path)).status, 404);
    assert.equal((await app().ask('GET', '/api/apis?p=-1')).text, known);
  });

  test('the upstream address is checked as for a saved API', async () => {
    const registry = await startUpstream();
    registry.answer = (_request, response) => response.end('[{"host":"169.254.169.254"}]');
    const discovered = { use_discovery_service: true, query_endpoint: registry.url, data_path: 'host' };
    const service_discovery = { ...discovered, endpoint_returns_list: true };
    const judged: [proxy: object, served: RegExp][] = [
      [{ target_url: 'file:///etc/passwd' }, /^503 /],
      [{ target_url: 'gopher://127.0.0.1/' }, /^503 /],
      [{ target_url: 'gw://nothing-is-called-this/' }, /^500 /],
      [{ service_discovery }, /^503 all hosts are down$/],
    ];
    for (const [proxy, served] of judged) {
      const spec = openApi(upstream, { proxy });
      const reply = await fetch(`${await publish(app(), spec)}/`);
      const tested = await debug(app(), { spec, request: { path: '/' } });
      const [head, body] = partsOf(tested)[1].split('\r\n\r\n');
      const called = `${reply.status} ${await reply.text()}`;
      assert.equal(`${head!.split(' ')[1]} ${body}`, called);
      assert.match(called, served);
    }
    await registry.close();
  });

  test('a loop to another API is traced without counting there', async () => {
    const inner = openApi(upstream, { name: 'Inner', internal: true, global_rate_limit: { rate: 1, per: 3600 } });
    await publish(app(), inner);
    const loop = openApi({ url: `gw://${inner.api_id}/deep` });
    const versions = { enabled: true, name: 'v1', default: 'v2', location: 'header', key: 'v' };
    const version = openApi(upstream, { definition: { ...versions, versions: { v2: inner.api_id } } });
    for (const [spec, path] of [
      [loop, '/deep/x'],
      [version, '/x'],
      [version, '/x'],
    ] as const) {
      const response = await debug(app(), { spec, request: { path: '/x' } });
      const [sent, got] = partsOf(response);
      assert.match(got, /^HTTP\/1\.1 200 OK/);
      assert.ok(sent.startsWith(`GET ${path} HTTP`), sent);
      assert.equal(lineOf(response, { mw: 'upstream', type: 'request' }).api_name, 'Inner');
    }
  });

  test('an invalid definition is rejected with all its errors', async () => {
    const { status, body } = await debug(app(), { spec: { ...openApi(upstream), name: 7, proxy: 3 }, request: {} });
    assert.equal(status, 400);
    assert.equal(body.message, 'error');
    assert.equal(body.response, '');
    const faults = body.logs.split('\n').map((line: string) => JSON.parse(line));
    assert.deepEqual(
      faults.map((line: Line) => [line.level, line.msg]),
      [
        ['error', 'name: must be a string'],
        ['error', 'proxy: must be an object'],
      ],
    );
    const oas = { ...document(upstream), openapi: '2.0' };
    const other = await debug(app(), { oas, spec: openApi(upstream), request: {} });
    assert.equal(other.status, 400);
    assert.match(other.body.logs, /openapi: must be an OpenAPI version/);
  });

  test('missing and malformed members are reported', async () => {
    const spec = openApi(upstream);
    const debugForMessage = async (body: unknown) => {
      const response = await debug(app(), body);
      return [response.status, response.body.status, response.body.message];
    };
    assert.deepEqual(await debugForMessage({ request: {} }), [400, 'error', 'Spec field is missing']);
    assert.deepEqual(await debugForMessage({ spec: null, oas: null }), [400, 'error', 'Spec field is missing']);
    assert.deepEqual(await debugForMessage({ spec }), [400, 'error', 'Request field is missing']);
    assert.deepEqual(await debugForMessage('{'), [
      400,
      'error',
      'Request body malformed: it is not JSON at character 1',
    ]);
    for (const [request, place] of [
      [{ method: 'CONNECT' }, 'request.method'],
      [{ method: 'G T' }, 'request.method'],
      [{ headers: { 'a b': ['c'] } }, 'request.headers'],
      [{ headers: { a: ['b\r\nc: d'] } }, 'request.headers.a'],
      [{ headers: { a: 1 } }, 'request.headers.a'],
      [{ path: 1 }, 'request.path'],
      [{ path: '/a b' }, 'request.path'],
      [{ headers: { a: ['b\u0001'] } }, 'request.headers.a'],
      [{ body: {} }, 'request.body'],
    ] as const) {
      const [status, , message] = await debugForMessage({ spec, request });
      assert.equal(status, 400);
      assert.ok(String(message).startsWith(place), `${place}: ${message}`);
    }
  });

  test('a wrong or missing secret gets 403', async () => {
    const body = { spec: openApi(upstream), request: {} };
    for (const credential of [null, 'wrong', app().credentials.admin_access_key]) {
      const { status } = await app().ask('POST', '/gw/debug', { body, credential });
      assert.equal(status, 403);
    }
  });

  test('an invalid path and one outside the listen path get the same response as traffic', async () => {
    const spec = openApi(upstream);
    const escaped = await debug(app(), { spec, request: { path: '/a%2Fb' } });
    assert.match(
      partsOf(escaped)[1],
      /^HTTP\/1\.1 400 Bad Request\r\n.*Bad Request: the path contains a percent-encoded slash$/s,
    );
    const outside = await debug(app(), { spec, request: { path: '/../elsewhere' } });
    assert.match(partsOf(outside)[1], /^HTTP\/1\.1 404 Not Found\r\n/);
  });

  test('non-ASCII text is sent as UTF-8 and dumped unchanged', async () => {
    const request = { method: 'PUT', path: '/caf\u00e9', headers: { 'X-Name': ['\u6f22'] }, body: '\u6f22' };
    const [sent, got] = partsOf(await debug(app(), { spec: openApi(upstream), request }));
    assert.match(sent, /^PUT \/caf%C3%A9 HTTP\/1\.1\r\n.*X-Name: \u6f22\r\n.*\r\n\r\n\u6f22$/s);
    assert.match(got, /^HTTP\/1\.1 200 OK.*"body":"\u6f22"/s);
  });

  test('a listen path with parameters is reached by a relative or a whole path', async () => {
    const spec = (part: string) => openApi(upstream, { proxy: { listen_path: `/{tenant${part}}/open` } });
    const below = await debug(app(), { spec: spec(''), request: { path: '/x' } });
    assert.match(partsOf(below)[0], /^GET \/x HTTP/);
    const whole = await debug(app(), { spec: spec(':[0-9]+'), request: { path: '/42/open/y' } });
    assert.match(partsOf(whole)[0], /^GET \/y HTTP/);
  });

  test('an unavailable API is traced with its reason and returns its 503', async () => {
    const spec = openApi(upstream, { use_mutual_tls_auth: true, client_certificates: ['nothing-is-called-this'] });
    const response = await debug(app(), { spec, request: {} });
    assert.match(partsOf(response)[1], /^HTTP\/1\.1 503 Service Unavailable/);
    assert.match(linesOf(response)[0]!.msg, /^The API is not served: .*nothing-is-called-this/);
  });

  test('an upstream without a response is traced with the reason', async () => {
    const gone = await startUpstream();
    await gone.close();
    const response = await debug(app(), { spec: openApi(gone), request: {} });
    assert.match(partsOf(response)[1], /^HTTP\/1\.1 502 Bad Gateway/);
    assert.equal(lineOf(response, { msg: 'upstream failed' }).refusal, 'upstream_failed');
  });

  test('a long response is dumped up to its bound', async () => {
    const long = await startUpstream();
    long.answer = (_request, response) => response.end('x'.repeat(3_000_000));
    const response = await debug(app(), { spec: openApi(long), request: {} });
    await long.close();
    const [, got] = partsOf(response);
    const [head, body] = got.split('\r\n\r\n');
    assert.match(head!, /^HTTP\/1\.1 200 OK/);
    assert.equal(body!.length, 1_048_576);
    lineOf(response, { msg: 'the response is longer than 1048576 bytes: the rest is not shown', level: 'warn' });
  });
});

const rights = ({ api_id }: { api_id: string }) => ({ api_id, api_name: 'Test', versions: ['Default'] });

describe('limits of a debug run', () => {
  let app: TestApp;
  before(async () => {
    app = await startApp('sqlite', { settings: { 'debug.timeout_ms': '2000' } });
  });
  after(() => app?.close());

  test('a hanging upstream times out, its connection is closed, and the trace names what was awaited', async () => {
    const hanging = await startUpstream();
    const closed = new Promise(resolve => {
      hanging.answer = request => request.socket.once('close', resolve);
    });
    const response = await debug(app, { spec: openApi(hanging), request: { path: '/slow' } });
    const [sent, got] = partsOf(response);
    assert.equal(response.body.message, 'The test timed out after 2000 ms');
    assert.match(sent, /^GET \/slow HTTP/);
    assert.equal(got, '');
    lineOf(response, { level: 'error', msg: 'The test timed out after 2000 ms, waiting for the upstream' });
    await closed;
    await hanging.close();
  });
});

test('a process without traffic threads refuses a debug run with a hint', async () => {
  const app = await startApp('sqlite', { settings: { role: 'dashboard' } });
  const { status, body } = await debug(app, { spec: openApi(upstream), request: {} });
  await app.close();
  assert.equal(status, 503);
  assert.equal(
    body.message,
    'This process serves no API traffic; send the request to one that runs with --role gateway or all',
  );
});
