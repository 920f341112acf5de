import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as ask, type IncomingHttpHeaders } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { onEveryEngine, startApp, type TestApp } from './support/app.ts';
import { makeAuthority, makeServerCertificate } from './support/certificates.ts';
import { freePort } from './support/services/server.ts';
import { eventually, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream } from './support/upstream.ts';
import { withSettings } from './support/with-settings.ts';

/** Not 127.0.0.1, so that it is seen whose address is taken. */
const scriptAddress = '127.0.0.7';
const on = { 'gateway.control_on_traffic_port': 'true' };
/** Smaller for calls of APIs than for the control interface: the two have nothing to do with each other. */
const bounds = { 'management.max_body_bytes': '20000', 'gateway.max_request_body_bytes': '1000' };

interface Sent {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | undefined;
  address?: string;
}
interface ReceivedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A call whose path goes out as it is written. */
async function call(base: string, path: string, { method = 'GET', headers = {}, body, address }: Sent = {}) {
  const { hostname, port } = new URL(base);
  const localAddress = address ?? scriptAddress;
  const sent = ask({ host: hostname, port, path, method, headers, localAddress, agent: false });
  sent.end(body);
  const [response] = await once(sent, 'response');
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, headers: response.headers, text } as ReceivedResponse;
}

/** The same over HTTP/2. */
async function call2(base: string, path: string, { method = 'GET', headers = {}, body }: Sent = {}, ca?: string) {
  const session = connectHttp2(base, ca ? { ca } : {});
  try {
    const stream = session.request({ ...headers, ':method': method, ':path': path });
    stream.end(body);
    const [given] = await once(stream, 'response');
    let text = '';
    for await (const chunk of stream) text += chunk;
    return { status: given[':status'], headers: given, text } as ReceivedResponse;
  } finally {
    session.close();
  }
}

/** Every credential of the installation at once: only the path decides. */
const everything = ({ credentials }: TestApp) => ({
  'x-gw-authorization': credentials.gateway_secret,
  'admin-auth': credentials.admin_secret,
  authorization: credentials.admin_access_key,
});
const json = { 'content-type': 'application/json' };

withSettings('Control interface on the traffic port, default settings', {}, (app, upstream) => {
  test('the traffic port has no control interface, and /gw is an ordinary path', async () => {
    const headers = everything(app());
    assert.equal((await call(app().url.gateway, '/gw/apis', { headers })).status, 404);
    await publish(app(), openApi(upstream(), { proxy: { listen_path: '/gw/' } }));
    const { status, text } = await call(app().url.gateway, '/gw/apis');
    assert.equal(status, 200);
    assert.equal(JSON.parse(text).url, '/apis');
  });
});

onEveryEngine(
  'Control interface on the traffic port',
  app => {
    const secret = () => ({ 'x-gw-authorization': app().credentials.gateway_secret });

    test('an API created over the traffic port is served', async () => {
      const upstream = await startUpstream();
      const definition = openApi(upstream);
      const sent = { method: 'POST', headers: { ...secret(), ...json }, body: JSON.stringify(definition) };
      const made = await call(app().url.gateway, '/gw/apis', sent);
      assert.equal(made.status, 200, made.text);
      assert.deepEqual(JSON.parse(made.text), { key: definition.api_id, status: 'ok', action: 'added' });
      await waitUntilApplied(app());
      const url = app().url.gateway + definition.proxy.listen_path;
      assert.equal((await fetch(`${url}/x`)).status, 200);
      await upstream.close();
    });

    test('the audit record has the client address, not that of forwarding headers', async () => {
      const definition = openApi({ url: 'http://127.0.0.1:1' });
      const claims = Object.fromEntries(
        ['x-forwarded-for', 'x-real-ip', 'forwarded', 'x_forwarded_for', 'client-ip', 'true-client-ip'].map(name => [
          name,
          name === 'forwarded' ? 'for=10.9.8.7' : '10.9.8.7',
        ]),
      );
      const headers = { ...secret(), ...json, ...claims };
      const body = JSON.stringify(definition);
      const made = await call(app().url.gateway, '/gw/apis?x=1', { method: 'POST', headers, body });
      assert.equal(made.status, 200, made.text);
      const { audit_logs } = (await app().ask('GET', '/admin/audit-logs')).body;
      const [record] = audit_logs.filter(({ object }: { object: string }) => object.includes(definition.api_id));
      const { ip, url, method, status } = record;
      assert.deepEqual(
        { ip, url, method, status },
        { ip: scriptAddress, url: '/gw/apis', method: 'POST', status: 200 },
      );
    });
  },
  { settings: { ...on, 'management.trusted_proxies': '127.0.0.0/8' } },
);

withSettings('Control interface on both ports', { ...on, ...bounds }, (app, upstream) => {
  const secret = () => ({ 'x-gw-authorization': app().credentials.gateway_secret });
  const long = (bytes: number) => JSON.stringify({ name: 'x'.repeat(bytes) });
  const chunked = { 'transfer-encoding': 'chunked' };

  const createPost = (body: string | undefined, more: Sent['headers'] = {}): Sent => ({
    method: 'POST',
    headers: { ...secret(), ...json, ...more },
    body,
  });
  const rows: readonly [status: number, what: string, path: string, sent: () => Sent][] = [
    [200, 'a list', '/gw/apis', () => ({ headers: secret() })],
    [200, 'a final slash', '/gw/apis/', () => ({ headers: secret() })],
    [200, 'a query', '/gw/apis?p=1', () => ({ headers: secret() })],
    [200, 'its document', '/gw/openapi.json', () => ({})],
    [200, 'a head alone', '/gw/apis', () => ({ method: 'HEAD', headers: secret() })],
    [403, 'no secret', '/gw/apis', () => ({})],
    [403, 'a wrong secret', '/gw/apis', () => ({ headers: { 'x-gw-authorization': 'wrong' } })],
    [403, 'the secret elsewhere', '/gw/apis', () => ({ headers: { authorization: app().credentials.gateway_secret } })],
    [
      403,
      'two secrets',
      '/gw/apis',
      () => createPost('{}', { 'x-gw-authorization': [app().credentials.gateway_secret, 'x'] }),
    ],
    [403, 'no secret and a body', '/gw/apis', () => ({ method: 'POST', headers: json, body: long(30_000) })],
    [403, 'no secret at its root', '/gw', () => ({})],
    [403, 'no secret and no such path', '/gw/nothing', () => ({ method: 'POST', headers: json, body: '{}' })],
    [404, 'its root', '/gw', () => ({ headers: secret() })],
    [404, 'its root with a slash', '/gw/', () => ({ headers: secret() })],
    [404, 'no such path', '/gw/nothing', () => ({ headers: secret() })],
    [404, 'no such API', '/gw/apis/no-such-api', () => ({ headers: secret() })],
    [405, 'a method it has not', '/gw/apis', () => ({ method: 'PATCH', headers: secret() })],
    [405, 'a preflight', '/gw/apis', () => ({ method: 'OPTIONS', headers: secret() })],
    [400, 'half a document', '/gw/apis', () => createPost('{')],
    [400, 'no document', '/gw/apis', () => createPost(undefined)],
    [400, 'a document longer than calls of APIs may be', '/gw/apis', () => createPost(long(19_000))],
    [413, 'too long a document', '/gw/apis', () => createPost(long(20_000))],
    [413, 'too long a document that does not say so', '/gw/apis', () => createPost(long(20_000), chunked)],
  ];
  const particular = ({ headers }: ReceivedResponse) =>
    ['content-type', 'content-length', 'cache-control', 'pragma', 'x-content-type-options', 'allow'].map(name => [
      name,
      headers[name],
    ]);
  for (const [status, what, path, sent] of rows) {
    test(`both ports return the same ${status} to ${what}`, async () => {
      const usual = await call(app().url.dashboard, path, sent());
      const here = await call(app().url.gateway, path, sent());
      assert.equal(usual.status, status, usual.text);
      assert.deepEqual([here.status, here.text], [usual.status, usual.text]);
      assert.deepEqual(particular(here), particular(usual));
    });
  }

  test('a request without the secret is refused before its body is read', async () => {
    const { hostname, port } = new URL(app().url.gateway);
    const socket = connect(Number(port), hostname);
    socket.write('POST /gw/apis HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{');
    const [received] = await once(socket, 'data');
    assert.match(String(received), /^HTTP\/1\.1 403 /);
    socket.destroy();
  });

  test('unfinished control requests occupy a bounded number of slots, until their clients disconnect', async () => {
    const { hostname, port } = new URL(app().url.gateway);
    const head = [
      'POST /gw/apis HTTP/1.1',
      'Host: x',
      'Expect: 100-continue',
      'Content-Type: application/json',
      'Content-Length: 9',
      `X-Gw-Authorization: ${app().credentials.gateway_secret}`,
    ].join('\r\n');
    const sockets = await Promise.all(
      Array.from({ length: 64 }, async () => {
        const socket = connect(Number(port), hostname);
        socket.write(`${head}\r\n\r\n`);
        const [received] = await once(socket, 'data');
        assert.match(String(received), /^HTTP\/1\.1 100 /);
        return socket;
      }),
    );
    const { status, text } = await call(app().url.gateway, '/gw/apis', { headers: secret() });
    assert.equal(status, 503);
    assert.deepEqual(JSON.parse(text), { status: 'error', message: 'The control interface is busy; try again' });
    for (const socket of sockets) socket.destroy();
    const listApis = () => call(app().url.gateway, '/gw/apis', { headers: secret() });
    await eventually(async () => assert.equal((await listApis()).status, 200));
  });

  test('HTTP/2 is accepted, also with unknown methods', async () => {
    const { status, text } = await call2(app().url.gateway, '/gw/apis', { headers: secret() });
    assert.deepEqual([status, text], [200, (await call(app().url.dashboard, '/gw/apis', { headers: secret() })).text]);
    for (const headers of [{}, secret()]) {
      const unknown = await call2(app().url.gateway, '/gw/apis', { method: 'FROBNICATE', headers });
      assert.ok([403, 404, 405].includes(unknown.status), unknown.text);
    }
  });

  test('no API overrides the control paths, and the control interface overrides no API path', async () => {
    for (const listen_path of ['/gw/', '/gw/apis/', '/gwent/'])
      await publish(app(), openApi(upstream(), { proxy: { listen_path } }));
    assert.equal((await call(app().url.gateway, '/gw/apis')).status, 403);
    assert.equal((await call(app().url.gateway, '/gwent/x')).status, 200);
    assert.equal((await call(app().url.gateway, '/live')).status, 200);
  });
});

/** 404 and 400 of the gateway are in its own words; `control`: those of the control interface for unknown paths. */
const spellings: readonly [path: string, expected: 404 | 400 | 'control'][] = [
  ['/api/apis', 404],
  ['/admin/organisations', 404],
  ['/metrics', 404],
  ['/portal-api/users', 404],
  ['/openapi.json', 404],
  ['/docs', 404],
  ['//api/apis', 404],
  ['/GW/apis', 404],
  ['/gwx/apis', 404],
  ['/gw;/apis', 404],
  ['/gw%3B/apis', 404],
  ['/gw%00/apis', 400],
  ['/gw/../api/apis', 404],
  ['/gw/./../admin/organisations', 404],
  ['/gw//../../metrics', 404],
  ['/gw/%2e%2e/api/apis', 404],
  ['/gw/%2E./metrics', 404],
  ['/gw/.%2e/%2e%2e/api/apis', 404],
  ['/gw/%252e%252e/api/apis', 400],
  ['/gw/..;/api/apis', 400],
  ['/gw/..;x=1/metrics', 400],
  ['/gw/%2e%2e;/api/apis', 400],
  ['/gw/..%3B/api/apis', 400],
  ['/gw/..%2fapi/apis', 400],
  ['/gw/..%2Fmetrics', 400],
  ['/gw%2f..%2fapi/apis', 400],
  ['/gw/..%5capi/apis', 400],
  ['/gw\\..\\api\\apis', 400],
  ['/gw/;/../../api/apis', 404],
  ['/gw/api/apis', 'control'],
  ['/gw//api/apis', 'control'],
  ['/gw/metrics', 'control'],
  ['/gw/hello', 'control'],
  ['/gw/http://127.0.0.1/api/apis', 'control'],
  ['/gw?/../api/apis', 'control'],
  ['/gw/?x=/api/apis', 'control'],
];

for (const slashes of ['refuse', 'keep'] as const) {
  withSettings(`hostile spellings, escaped slashes: ${slashes}`, { ...on, 'gateway.encoded_slashes': slashes }, app => {
    const checkOrigin = ({ status, text }: ReceivedResponse, expected: 404 | 400 | 'control', path: string) => {
      assert.equal(/^\{"status":"error",/.test(text), expected === 'control', `${path}: ${text}`);
      if (expected === 'control') assert.equal(status, 404, `${path}: ${text}`);
      else if (slashes === 'refuse' || !/%2f|%5c/i.test(path)) assert.equal(status, expected, `${path}: ${text}`);
      else assert.ok(status === 400 || status === 404, `${path}: ${status} ${text}`);
    };

    test('no other management surface is reachable with any credential', async () => {
      const headers = everything(app());
      const base = app().url.gateway;
      const { host } = new URL(base);
      for (const [path, expected] of spellings) {
        checkOrigin(await call(base, path, { headers }), expected, path);
        checkOrigin(await call(base, `http://${host}${path}`, { headers: { ...headers, host } }), expected, path);
        checkOrigin(await call2(base, path, { headers }), expected, path);
        checkOrigin(await call(base, path, { headers: { ...headers, 'x-original-url': '/api/apis' } }), expected, path);
      }
    });
  });
}

withSettings(
  'guessing',
  { ...on, 'management.max_auth_failures_per_minute': '3', 'gateway.trusted_proxies': '127.0.0.9' },
  app => {
    test('wrong secrets are counted per client over both listeners, and a valid one always passes', async () => {
      const wrong = { headers: { 'x-gw-authorization': 'wrong' } };
      const right = { headers: { 'x-gw-authorization': app().credentials.gateway_secret } };
      const { gateway, dashboard } = app().url;
      const posted = { method: 'POST', headers: { ...wrong.headers, ...json }, body: '{}' };
      assert.equal((await call(gateway, '/gw/apis', wrong)).status, 403);
      assert.equal((await call(dashboard, '/gw/apis', wrong)).status, 403);
      assert.equal((await call(gateway, '/gw/apis', posted)).status, 403);
      for (const door of [gateway, dashboard]) {
        const { status, headers } = await call(door, '/gw/apis', wrong);
        assert.equal(status, 429);
        assert.ok(Number(headers['retry-after']) > 0);
        assert.equal((await call(door, '/gw/apis', right)).status, 200);
        assert.equal((await call(door, '/gw/apis', { ...wrong, address: '127.0.0.8' })).status, 403);
      }
      const createProxiedCall = (address: string) => ({
        address: '127.0.0.9',
        headers: { ...wrong.headers, 'x-forwarded-for': address },
      });
      assert.equal((await call(gateway, '/gw/apis', createProxiedCall(scriptAddress))).status, 429);
      assert.equal((await call(gateway, '/gw/apis', createProxiedCall('127.0.0.10'))).status, 403);
    });
  },
);

test('the role gateway serves it over TLS too, and on no API port', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'gw-control-'));
  const authority = makeAuthority();
  const made = makeServerCertificate(authority);
  const files = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') };
  writeFileSync(files.cert, made.chainPem);
  writeFileSync(files.key, made.keyPem);
  const own = await freePort();
  const settings = {
    ...on,
    role: 'gateway',
    'gateway.extra_ports': String(own),
    'gateway.tls.enabled': 'true',
    'gateway.tls.certificate_file': files.cert,
    'gateway.tls.key_file': files.key,
  };
  const upstream = await startUpstream();
  const app = await startApp('sqlite', { settings });
  try {
    const headers = everything(app);
    const control = (app.application.urls as Record<string, string>).control!;
    for (const path of ['/gw/apis', '/gw/keys', '/gw/nothing']) {
      const here = await call2(app.url.gateway, path, { headers }, authority.certPem);
      const usual = await call(control, path, { headers });
      assert.deepEqual([here.status, here.text], [usual.status, usual.text]);
    }
    assert.equal((await call2(app.url.gateway, '/metrics', { headers }, authority.certPem)).status, 404);
    const definition = openApi(upstream, { listen_port: own, protocol: 'http' });
    const sent = { method: 'POST', headers: { ...headers, ...json }, body: JSON.stringify(definition) };
    assert.equal((await call2(app.url.gateway, '/gw/apis', sent, authority.certPem)).status, 200);
    const elsewhere = `http://127.0.0.1:${own}`;
    const served = `${definition.proxy.listen_path}/live`;
    await eventually(async () => assert.equal((await call(elsewhere, served)).status, 200));
    assert.equal((await call(elsewhere, '/gw/apis', { headers })).status, 404);
  } finally {
    await app.close();
    await upstream.close();
    rmSync(directory, { recursive: true });
  }
});

for (const role of ['dashboard', 'portal'])
  test(`a process with the role ${role} refuses the setting`, async () => {
    await assert.rejects(startApp('sqlite', { settings: { ...on, role } }), /the role \w+ serves no API traffic/);
  });
