import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { type BothFormats, publishBoth } from './support/both-formats.ts';
import { eventually, startUpstream, type Upstream } from './support/upstream.ts';

const errorBody = (message: string) => `{\n    "error": ${JSON.stringify(message)}\n}`;

interface Versions {
  versions: { Default: { extended_paths: Record<string, object[]> } };
}

/** Features of one endpoint, GET /x, in both formats. */
const endpoint = (list: string, classic: object, name: string, oas: object): BothFormats => ({
  classic: {
    version_data: {
      not_versioned: true,
      versions: {
        Default: {
          name: 'Default',
          use_extended_paths: true,
          extended_paths: { [list]: [{ path: '/x', method: 'GET', ...classic }] },
        },
      },
    },
  },
  oas: { middleware: { operations: { x: { [name]: { enabled: true, ...oas } } } } },
  document: { paths: { '/x': { get: { operationId: 'x', responses: {} } } } },
});

describe('Upstream timeouts and circuit breakers', () => {
  let app: TestApp;
  let upstream: Upstream;
  const lines: string[] = [];
  const others: { close(): Promise<void> }[] = [];

  before(async () => {
    [app, upstream] = await Promise.all([
      startApp('sqlite', {
        onLog: line => lines.push(line),
        settings: { threads: '2' },
      }),
      startUpstream(),
    ]);
  });
  after(async () => {
    await app?.close();
    for (const it of [upstream, ...others]) await it?.close();
  });
  beforeEach(() => {
    upstream.answer = undefined;
    upstream.requests.length = 0;
  });

  const got = async (url: string, init: RequestInit = {}) => {
    const reply = await fetch(url, init);
    return { status: reply.status, text: await reply.text(), headers: reply.headers };
  };
  const listening = async (server: Server | Http2Server): Promise<number> => {
    const sockets = new Set<Socket>();
    (server as Server).on('connection', socket => sockets.add(socket));
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', () => resolve()));
    others.push({
      close: () =>
        new Promise(resolve => {
          server.close(() => resolve());
          for (const socket of sockets) socket.destroy();
        }),
    });
    return (server.address() as AddressInfo).port;
  };
  const events = (apiId: string): string[] =>
    lines
      .map(line => JSON.parse(line) as { event?: string; api_id?: string; msg?: string })
      .filter(it => it.api_id === apiId && it.event !== undefined)
      .map(it => it.event!);

  describe('Enforced timeouts', () => {
    const definitions = endpoint('hard_timeouts', { duration: '500ms' }, 'enforceTimeout', { duration: '500ms' });
    const late = errorBody('Upstream service reached hard timeout.');

    test('without response headers in time the upstream request is aborted, and the client gets 504', async () => {
      for (const { url } of await publishBoth(app, upstream, definitions)) {
        const gone = Promise.withResolvers<void>();
        upstream.answer = (request, _response) => request.socket.once('close', () => gone.resolve());
        const { status, text } = await got(`${url}/x`);
        assert.deepEqual([status, text], [504, late]);
        await gone.promise;
        upstream.answer = undefined;
        assert.equal((await got(`${url}/x`)).status, 200);
        assert.equal((await got(`${url}/other`)).status, 200);
      }
    });

    test('a response that stalls is aborted, visibly to the client', async () => {
      for (const { url } of await publishBoth(app, upstream, definitions)) {
        upstream.answer = (_request, response) => response.writeHead(200, { 'content-length': '100' }).write('half');
        const reply = await fetch(`${url}/x`);
        assert.equal(reply.status, 200);
        await assert.rejects(reply.text());
      }
    });

    test('a response that keeps streaming may take longer than the timeout', async () => {
      const second = { duration: '1s' };
      const [api] = await publishBoth(app, upstream, endpoint('hard_timeouts', second, 'enforceTimeout', second));
      upstream.answer = (_request, response) => {
        let left = 14;
        const drip = setInterval(() => {
          if (--left > 0) response.write('.');
          else {
            clearInterval(drip);
            response.end('.');
          }
        }, 100);
      };
      assert.deepEqual(await got(`${api!.url}/x`).then(({ status, text }) => [status, text]), [200, '.'.repeat(14)]);
    });

    test('the API timeout applies to endpoints without one, and whole seconds without a finer value', async () => {
      const whole: BothFormats = {
        classic: {
          version_data: {
            not_versioned: true,
            versions: {
              Default: {
                name: 'Default',
                use_extended_paths: true,
                global_enforce_timeout: '60ms',
                extended_paths: { hard_timeouts: [{ path: '/x', method: 'GET', timeout: 600 }] },
              },
            },
          },
        },
        oas: {
          upstream: { url: upstream.url, enforceTimeout: { enabled: true, duration: '60ms' } },
          middleware: { operations: { x: { enforceTimeout: { enabled: true, value: 600 } } } },
        },
        document: { paths: { '/x': { get: { operationId: 'x', responses: {} } } } },
      };
      for (const { url } of await publishBoth(app, upstream, whole)) {
        upstream.answer = (request, response) =>
          void (request.url === '/x' && setTimeout(() => response.end('at last'), 150));
        const [patient, strict] = await Promise.all([got(`${url}/x`), got(`${url}/other`)]);
        assert.deepEqual([patient.status, patient.text], [200, 'at last']);
        assert.deepEqual([strict.status, strict.text], [504, late]);
      }
    });

    test('a timeout shorter than the connect time is enforced', async () => {
      // Takes connections, and never agrees on TLS.
      const port = await listening(createTcpServer(socket => socket.on('error', () => undefined).resume()));
      for (const { url } of await publishBoth(app, { url: `https://127.0.0.1:${port}` }, definitions))
        assert.equal((await got(`${url}/x`)).status, 504);
    });
  });

  describe('Enforced timeouts of other protocols', () => {
    const definitions = endpoint('hard_timeouts', { duration: '500ms' }, 'enforceTimeout', { duration: '500ms' });
    const late = errorBody('Upstream service reached hard timeout.');

    test('a WebSocket upgrade that the upstream does not answer in time', async () => {
      for (const { url } of await publishBoth(app, upstream, definitions)) {
        const silent = createTcpServer(socket => socket.on('error', () => undefined).resume());
        const port = await listening(silent);
        const [api] = await publishBoth(app, { url: `http://127.0.0.1:${port}` }, definitions);
        const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
        for (const [address, expected] of [
          [url, 200],
          [api!.url, 504],
        ] as const) {
          const reply = await new Promise<IncomingMessage>((resolve, reject) => {
            const asked = request(`${address}/x`, { headers: { ...headers, 'sec-websocket-key': 'a'.repeat(22) } });
            asked.on('response', resolve).on('error', reject).end();
          });
          reply.resume();
          assert.equal(reply.statusCode, expected);
        }
      }
    });

    test('an HTTP/2 upstream', async () => {
      const silent = createHttp2Server();
      silent.on('stream', stream => stream.on('error', () => undefined));
      const port = await listening(silent);
      const [api] = await publishBoth(app, { url: `h2c://127.0.0.1:${port}` }, definitions);
      assert.deepEqual(await got(`${api!.url}/x`).then(({ status, text }) => [status, text]), [504, late]);
    });

    test('a buffered response', async () => {
      const held = endpoint('hard_timeouts', { duration: '500ms' }, 'enforceTimeout', { duration: '500ms' });
      const template = Buffer.from('{{.a}}').toString('base64');
      const lists = (held.classic.version_data as Versions).versions.Default.extended_paths;
      lists.transform_response = [
        {
          path: '/x',
          method: 'GET',
          template_data: { input_type: 'json', template_mode: 'blob', template_source: template },
        },
      ];
      const [api] = await publishBoth(app, upstream, held);
      upstream.answer = (_request, response) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).write('{"a":');
      assert.deepEqual(await got(`${api!.url}/x`).then(({ status, text }) => [status, text]), [504, late]);
    });
  });

  describe('Circuit breakers', () => {
    const createBreaker = (halfOpen: boolean, seconds = 600) =>
      endpoint(
        'circuit_breakers',
        {
          threshold_percent: 0.5,
          samples: 4,
          return_to_service_after: seconds,
          disable_half_open_state: !halfOpen,
        },
        'circuitBreaker',
        { threshold: 0.5, sampleSize: 4, coolDownPeriod: seconds, halfOpenStateEnabled: halfOpen },
      );
    const open = errorBody('Service temporarily unavailable.');

    test('failures open it on every thread, for its endpoint only, and emit an event', async () => {
      for (const { url, apiId } of await publishBoth(app, upstream, createBreaker(false))) {
        upstream.answer = (_request, response) => response.writeHead(500).end('broken');
        for (let at = 0; at < 4; at++) assert.equal((await got(`${url}/x`)).status, 500);
        upstream.requests.length = 0;
        for (let at = 0; at < 6; at++) {
          const { status, text } = await got(`${url}/x`, { headers: { connection: 'close' } });
          assert.deepEqual([status, text], [503, open]);
        }
        assert.equal(upstream.requests.length, 0);
        assert.equal((await got(`${url}/other`)).text, 'broken');
        await eventually(() => assert.deepEqual(events(apiId), ['BreakerTriggered', 'BreakerTripped']));
      }
    });

    test('in the half-open state a successful request closes it', async () => {
      for (const { url, apiId } of await publishBoth(app, upstream, createBreaker(true))) {
        upstream.answer = (_request, response) => response.writeHead(503).end();
        await eventually(async () => assert.equal((await got(`${url}/x`)).text, open));
        upstream.answer = undefined;
        await eventually(async () => assert.equal((await got(`${url}/x`)).status, 200));
        assert.equal((await got(`${url}/x`)).status, 200);
        await eventually(() =>
          assert.deepEqual(events(apiId), ['BreakerTriggered', 'BreakerTripped', 'BreakerTriggered', 'BreakerReset']),
        );
      }
    });

    test('it closes after its return time and emits an event', async () => {
      for (const { url, apiId } of await publishBoth(app, upstream, createBreaker(false, 1))) {
        upstream.answer = (request, _response) => request.socket.destroy();
        await eventually(async () => assert.equal((await got(`${url}/x`)).text, open));
        upstream.answer = undefined;
        await eventually(async () => assert.equal((await got(`${url}/x`)).status, 200));
        await eventually(() =>
          assert.deepEqual(events(apiId), ['BreakerTriggered', 'BreakerTripped', 'BreakerTriggered', 'BreakerReset']),
        );
      }
    });

    test('responses below 500 and client disconnects are not failures', async () => {
      for (const { url } of await publishBoth(app, upstream, createBreaker(false))) {
        upstream.answer = (_request, response) => response.writeHead(404).end();
        for (let at = 0; at < 8; at++) assert.equal((await got(`${url}/x`)).status, 404);
        const left = new AbortController();
        upstream.answer = () => left.abort();
        await assert.rejects(got(`${url}/x`, { signal: left.signal }));
        upstream.answer = (_request, response) => response.writeHead(404).end();
        assert.equal((await got(`${url}/x`)).status, 404);
      }
    });
  });
});
