import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { after, before, describe, test } from 'node:test';
import { type Caller, call, statusesIn } from './hostile/raw.ts';
import { startApp, type TestApp } from './support/app.ts';
import { type BothFormats, publishBoth } from './support/both-formats.ts';
import { makeAuthority, makeServerCertificate } from './support/certificates.ts';
import { eventually, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream } from './support/upstream.ts';
import { type Echo, startEcho } from './support/websocket-echo.ts';

const asking = (path: string, more = '') =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nX-Bytes: 1\r\n${more}\r\n`;

describe('WebSockets', () => {
  let app: TestApp;
  let echo: Echo;
  let port = 0;
  const callers: Caller[] = [];
  before(async () => {
    [app, echo] = await Promise.all([startApp('sqlite'), startEcho()]);
    port = Number(new URL(app.url.gateway).port);
  });
  after(async () => {
    await app?.close();
    await echo?.close();
    for (const it of callers) it.leave();
  });
  const caller = async () => {
    const made = await call(port);
    callers.push(made);
    return made;
  };
  const publishWebSocket = async (more: Record<string, unknown> = {}, target = `ws://127.0.0.1:${echo.port}`) => {
    echo.answer = undefined;
    return new URL(await publish(app, openApi({ url: target }, more)));
  };

  test('a WebSocket passes frames between client and upstream', async () => {
    const url = await publishWebSocket({}, `ws://127.0.0.1:${echo.port}/base`);
    const socket = new WebSocket(`ws://127.0.0.1:${port}${url.pathname}/chat?room=1`);
    await once(socket, 'open');
    for (const text of ['hello', 'again']) {
      socket.send(text);
      const [message] = (await once(socket, 'message')) as [MessageEvent];
      assert.equal(message.data, text);
    }
    const asked = echo.asked.at(-1)!;
    assert.equal(asked.url, '/base/chat?room=1');
    assert.equal(asked.headers['x-forwarded-for'], '127.0.0.1');
    assert.equal(asked.headers.host, `127.0.0.1:${echo.port}`);
    socket.close();
    await once(socket, 'close');
  });

  test('the 101 response has the upstream’s headers without hop-by-hop headers', async () => {
    const url = await publishWebSocket();
    const one = await caller();
    one.send(asking(url.pathname));
    await one.until(/^HTTP\/1\.1 101 Switching Protocols\r\n[\s\S]*\r\n\r\n$/);
    assert.match(one.received(), /Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/);
    assert.match(one.received(), /X-Theirs: 1\r\n/);
    assert.equal(one.received().match(/upgrade: websocket/gi)?.length, 1);
  });

  test('the 101 response carries the API’s response headers, expiry and rate limit headers', async () => {
    echo.answer = undefined;
    const quota = { quota_max: 5, quota_renewal_rate: 3600 };
    const definitions: BothFormats = {
      classic: {
        use_keyless: false,
        use_standard_auth: true,
        expiration: '2040-01-01 00:00',
        version_data: {
          not_versioned: true,
          versions: {
            Default: {
              name: 'Default',
              global_response_headers: { 'X-Ours': '1' },
              global_response_headers_remove: ['X-Theirs'],
            },
          },
        },
      },
      oas: {
        server: { authentication: { enabled: true, securitySchemes: { token: { enabled: true } } } },
        middleware: {
          global: {
            transformResponseHeaders: { enabled: true, add: [{ name: 'X-Ours', value: '1' }], remove: ['X-Theirs'] },
          },
        },
      },
      document: {
        components: { securitySchemes: { token: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
        security: [{ token: [] }],
      },
    };
    for (const { format, apiId, url } of await publishBoth(
      app,
      { url: `http://127.0.0.1:${echo.port}` },
      definitions,
    )) {
      const body = { ...quota, access_rights: { [apiId]: { api_id: apiId, versions: ['Default', ''] } } };
      const { key_id } = (await app.ask('POST', '/api/keys', { body })).body;
      await waitUntilApplied(app);
      const one = await caller();
      one.send(asking(`${new URL(url).pathname}/`, `Authorization: ${key_id}\r\n`));
      await one.until(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\n$/);
      const head = one.received();
      assert.match(head, /^X-Ours: 1\r$/m, format);
      assert.doesNotMatch(head, /x-theirs/i, format);
      assert.match(head, /^X-RateLimit-Limit: 5\r\nX-RateLimit-Remaining: 4\r\nX-RateLimit-Reset: \d{10}\r$/m, format);
      if (format === 'classic') assert.match(head, /^x-gw-api-expires: Sun, 01 Jan 2040 00:00:00 GMT\r$/m);
      assert.doesNotMatch(head, /content-length/i, format);
      one.send('after it');
      await one.until(/after it$/);
    }
  });

  test('an upgrade request does not bypass response steps', async () => {
    const template = Buffer.from('shaped {{.url}}').toString('base64');
    const definitions: BothFormats = {
      classic: {
        version_data: {
          not_versioned: true,
          versions: {
            Default: {
              name: 'Default',
              use_extended_paths: true,
              extended_paths: {
                transform_response: [
                  {
                    path: '/x',
                    method: 'GET',
                    template_data: { input_type: 'json', template_mode: 'blob', template_source: template },
                  },
                ],
              },
            },
          },
        },
      },
      oas: {
        middleware: {
          operations: { x: { transformResponseBody: { enabled: true, format: 'json', body: template } } },
        },
      },
      document: { paths: { '/x': { get: { operationId: 'x', responses: {} } } } },
    };
    const declining = await startUpstream();
    const apis = await publishBoth(app, declining, definitions);
    for (const { format, url } of apis) {
      const one = await caller();
      one.send(asking(`${new URL(url).pathname}/x`));
      await one.closed;
      assert.match(
        one.received(),
        /^HTTP\/1\.1 200 OK\r\n[\s\S]*Content-Length: 9\r\n[\s\S]*\r\n\r\nshaped \/x$/,
        format,
      );
    }
    declining.answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    };
    for (const { format, url } of apis) {
      const one = await caller();
      one.send(asking(`${new URL(url).pathname}/x`));
      await one.closed;
      assert.match(one.received(), /^HTTP\/1\.1 502 [\s\S]*There was a problem proxying the request/, format);
    }
    await declining.close();
  });

  test('a declined upgrade’s response is streamed, and incomplete for the client when it is at the upstream', async () => {
    const url = await publishWebSocket();
    const more = Promise.withResolvers<void>();
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\nConnection: close\r\n\r\n';
    echo.answer = async (_request, socket) => {
      socket.write(`${head}begun`);
      await more.promise;
      socket.end('y'.repeat(1_999_995));
    };
    const whole = await caller();
    whole.send(asking(url.pathname));
    await whole.until(/begun$/);
    more.resolve();
    await whole.closed;
    assert.equal(whole.received().split('\r\n\r\n')[1]!.length, 2_000_000);
    echo.answer = (_request, socket) => socket.end(`${head}half`);
    const half = await caller();
    half.send(asking(url.pathname));
    await half.closed;
    assert.match(half.received(), /^HTTP\/1\.1 200 OK\r\n[\s\S]*Content-Length: 2000000\r\n[\s\S]*\r\n\r\nhalf$/);
  });

  test('an unauthorized upgrade gets the ordinary refusal', async () => {
    const keyed = await publishWebSocket({ use_keyless: false, use_standard_auth: true });
    const before = echo.asked.length;
    const stranger = await caller();
    stranger.send(asking(keyed.pathname));
    await stranger.closed;
    assert.deepEqual(statusesIn(stranger.received()), [401]);
    assert.match(stranger.received(), /"error": "Authorization field missing"/);
    const blocked = await publishWebSocket({
      version_data: {
        not_versioned: true,
        versions: {
          Default: {
            name: 'Default',
            use_extended_paths: true,
            extended_paths: { black_list: [{ path: '/no', method: 'GET' }] },
          },
        },
      },
    });
    const kept = await caller();
    kept.send(asking(`${blocked.pathname}/no`));
    await kept.closed;
    assert.deepEqual(statusesIn(kept.received()), [403]);
    assert.equal(echo.asked.length, before);
    const unrouted = await caller();
    unrouted.send(asking('/nowhere'));
    await unrouted.closed;
    assert.deepEqual(statusesIn(unrouted.received()), [404]);
  });

  test('an upgrade cannot leave the target path in any encoding', async () => {
    const url = await publishWebSocket({}, `ws://127.0.0.1:${echo.port}/base`);
    const paths = [
      '/../secret',
      '/x/../../secret',
      '/%2e%2e/secret',
      '/..%2fsecret',
      '/%2e%2e%5csecret',
      '//secret',
      '/..;/secret',
    ];
    for (const path of paths) {
      const before = echo.asked.length;
      const one = await caller();
      one.send(asking(url.pathname + path));
      await one.until(/^HTTP\/1\.1 \d/);
      const [received] = echo.asked.slice(before);
      assert.ok(!received || received.url!.startsWith('/base/'), `${path} reached ${received?.url}`);
    }
  });

  test('the response of an upstream that declines is forwarded', async () => {
    const url = await publishWebSocket();
    echo.answer = (_request, socket) =>
      socket.end(
        'HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 5\r\nConnection: close\r\n\r\nnever',
      );
    const one = await caller();
    one.send(asking(url.pathname));
    await one.closed;
    assert.deepEqual(statusesIn(one.received()), [403]);
    assert.match(one.received(), /Content-Type: text\/plain\r\n[\s\S]*never$/);
  });

  test('a 101 response with another protocol is refused', async () => {
    const url = await publishWebSocket();
    echo.answer = (_request, socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
    const one = await caller();
    one.send(asking(url.pathname));
    await one.closed;
    assert.deepEqual(statusesIn(one.received()), [502]);
  });

  test('a failing and a slow upstream have different errors', async () => {
    const failing = await publishWebSocket({}, 'ws://127.0.0.1:1');
    const one = await caller();
    one.send(asking(failing.pathname));
    await one.closed;
    assert.match(one.received(), /^HTTP\/1\.1 502 [\s\S]*There was a problem proxying the request/);
    const versions = { Default: { name: 'Default', global_enforce_timeout: '200ms' } };
    const slow = await publishWebSocket({ version_data: { not_versioned: true, versions } });
    echo.answer = () => undefined;
    const other = await caller();
    other.send(asking(slow.pathname));
    await other.closed;
    assert.match(other.received(), /^HTTP\/1\.1 504 [\s\S]*Upstream service reached hard timeout\./);
  });

  test('an upgraded connection is not reused', async () => {
    const url = await publishWebSocket();
    const plain = `${app.url.gateway}${url.pathname}`;
    await (await fetch(plain)).text();
    const before = echo.connections;
    const one = await caller();
    one.send(asking(url.pathname));
    await one.until(/101 Switching/);
    assert.equal(echo.connections, before + 1);
    one.leave();
    const tunnel = echo.sockets.at(-1)!;
    await eventually(() => assert.ok(tunnel.destroyed));
    await (await fetch(plain)).text();
    assert.equal(echo.connections, before + 1);
  });

  test('large transfers apply backpressure in both directions', async () => {
    const url = await publishWebSocket();
    const one = await caller();
    one.send(asking(url.pathname));
    await one.until(/101 Switching/);
    const head = one.received().length;
    const part = Buffer.alloc(1_000_000, 'y');
    one.socket.pause();
    for (let n = 0; n < 30; n++) one.send(part);
    one.socket.resume();
    await eventually(() => assert.equal(one.received().length - head, 30_000_000));
  });

  test('a disconnect of either side closes the other', async () => {
    const url = await publishWebSocket();
    const one = await caller();
    one.send(asking(url.pathname));
    await one.until(/101 Switching/);
    echo.sockets.at(-1)!.destroy();
    await one.closed;
    const other = await caller();
    other.send(asking(url.pathname));
    await other.until(/101 Switching/);
    const upstream = echo.sockets.at(-1)!;
    other.leave();
    await eventually(() => assert.ok(upstream.destroyed));
  });

  test('a WebSocket reaches a TLS upstream', async () => {
    const authority = makeAuthority();
    const certificate = makeServerCertificate(authority);
    const secure = await startEcho(
      createSecureServer({ cert: certificate.chainPem, key: certificate.keyPem }) as unknown as Server,
    );
    try {
      const strict = await publishWebSocket({}, `wss://127.0.0.1:${secure.port}`);
      const refused = await caller();
      refused.send(asking(strict.pathname));
      await refused.closed;
      assert.deepEqual(statusesIn(refused.received()), [502]);
      const { body } = await app.ask('POST', '/api/certs', { body: authority.certPem });
      const trusting = await publishWebSocket(
        { proxy: { transport: { ssl_ca_certificates: [body.id] } } },
        `wss://127.0.0.1:${secure.port}`,
      );
      const accepted = await caller();
      accepted.send(asking(trusting.pathname));
      await accepted.until(/\r\n\r\n/);
      assert.deepEqual(statusesIn(accepted.received()), [101]);
      accepted.leave();
      const lenient = await publishWebSocket(
        { proxy: { transport: { ssl_insecure_skip_verify: true } } },
        `wss://127.0.0.1:${secure.port}`,
      );
      const one = await caller();
      one.send(asking(lenient.pathname));
      await one.until(/101 Switching/);
      one.send('over TLS');
      await one.until(/over TLS$/);
    } finally {
      await secure.close();
    }
  });

  test('open WebSockets survive a change of the definition', async () => {
    const definition = openApi({ url: `ws://127.0.0.1:${echo.port}` });
    echo.answer = undefined;
    const url = new URL(await publish(app, definition));
    const one = await caller();
    one.send(asking(url.pathname));
    await one.until(/101 Switching/);
    await app.ask('DELETE', `/api/apis/${definition.api_id}`);
    await waitUntilApplied(app);
    one.send('still here');
    await one.until(/still here$/);
  });

  test('an upgrade is an ordinary request when WebSockets are disabled', async () => {
    const closed = await startApp('sqlite', { settings: { 'gateway.websockets': 'false' } });
    try {
      const url = new URL(await publish(closed, openApi({ url: `ws://127.0.0.1:${echo.port}` })));
      const one = await call(Number(url.port));
      one.send(asking(url.pathname));
      await one.until(/^HTTP\/1\.1 200 [\s\S]*"upgrade":null/);
      one.leave();
    } finally {
      await closed.close();
    }
  });
});
