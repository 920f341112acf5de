import assert from 'node:assert/strict';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { publishBoth, type Said } from './both-forms.ts';
import { startApp, type TestApp } from './harness.ts';
import { eventually, startUpstream, type Upstream } from './upstream.ts';

const errorBody = (message: string) => `{\n    "error": ${JSON.stringify(message)}\n}`;

/** What one endpoint, GET /x, asks for in both forms. */
const endpoint = (list: string, classic: object, name: string, oas: object): Said => ({
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

describe('upstreams that fail, hang, flap and lie', () => {
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

  const another = async () => {
    const made = await startUpstream();
    others.push(made);
    return made;
  };
  const got = async (url: string, init: RequestInit = {}) => {
    const reply = await fetch(url, init);
    return { status: reply.status, text: await reply.text(), headers: reply.headers };
  };
  const events = (apiId: string): string[] =>
    lines
      .map(line => JSON.parse(line) as { event?: string; api_id?: string; msg?: string })
      .filter(it => it.api_id === apiId && it.event !== undefined)
      .map(it => it.event!);

  describe('enforced timeouts', () => {
    const said = endpoint('hard_timeouts', { duration: '80ms' }, 'enforceTimeout', { duration: '80ms' });
    const late = errorBody('Upstream service reached hard timeout.');

    test('an upstream that does not begin in time gets its call taken back, and the caller 504', async () => {
      for (const { url } of await publishBoth(app, upstream, said)) {
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

    test('one that stops in the middle of its answer is cut off, so that the caller knows', async () => {
      for (const { url } of await publishBoth(app, upstream, said)) {
        upstream.answer = (_request, response) => response.writeHead(200, { 'content-length': '100' }).write('half');
        const reply = await fetch(`${url}/x`);
        assert.equal(reply.status, 200);
        await assert.rejects(reply.text());
      }
    });

    test('an answer that keeps coming may take longer than that', async () => {
      const [{ url } = { url: '' }] = await publishBoth(app, upstream, said);
      upstream.answer = (_request, response) => {
        let left = 12;
        const drip = setInterval(() => {
          if (--left > 0) response.write('.');
          else {
            clearInterval(drip);
            response.end('.');
          }
        }, 15);
      };
      assert.deepEqual(await got(`${url}/x`).then(({ status, text }) => [status, text]), [200, '.'.repeat(12)]);
    });

    test('the time of the API holds where the endpoint says nothing, and the whole seconds where nothing finer is said', async () => {
      const whole: Said = {
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
        upstream.answer = (_request, response) => void setTimeout(() => response.end('at last'), 150);
        const [patient, strict] = await Promise.all([got(`${url}/x`), got(`${url}/other`)]);
        assert.deepEqual([patient.status, patient.text], [200, 'at last']);
        assert.deepEqual([strict.status, strict.text], [504, late]);
      }
    });

    test('a time shorter than connecting takes is kept to', async () => {
      // Nobody takes connections here once the first few are queued.
      const deaf = createTcpServer({ pauseOnConnect: true });
      const sockets = new Set<Socket>();
      deaf.on('connection', socket => sockets.add(socket));
      await new Promise<void>(resolve => deaf.listen(0, '127.0.0.1', resolve));
      others.push({
        close: () =>
          new Promise(resolve => {
            for (const socket of sockets) socket.destroy();
            deaf.close(() => resolve());
          }),
      });
      const { port } = deaf.address() as AddressInfo;
      for (const { url } of await publishBoth(app, { url: `http://127.0.0.1:${port}` }, said))
        assert.equal((await got(`${url}/x`)).status, 504);
    });
  });

  describe('circuit breakers', () => {
    const said = (halfOpen: boolean, seconds = 600) =>
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

    test('failures open it on every thread, for its endpoint alone, and handlers are told', async () => {
      for (const { url, apiId } of await publishBoth(app, upstream, said(false))) {
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

    test('half open, a call that succeeds closes it', async () => {
      for (const { url, apiId } of await publishBoth(app, upstream, said(true))) {
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

    test('it closes when its time is over, and that is told too', async () => {
      for (const { url, apiId } of await publishBoth(app, upstream, said(false, 1))) {
        upstream.answer = (request, _response) => request.socket.destroy();
        await eventually(async () => assert.equal((await got(`${url}/x`)).text, open));
        upstream.answer = undefined;
        await eventually(async () => assert.equal((await got(`${url}/x`)).status, 200));
        await eventually(() =>
          assert.deepEqual(events(apiId), ['BreakerTriggered', 'BreakerTripped', 'BreakerTriggered', 'BreakerReset']),
        );
      }
    });

    test('answers below 500 and callers that leave count as no failure', async () => {
      for (const { url } of await publishBoth(app, upstream, said(false))) {
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

  describe('service discovery', () => {
    const registered = (
      registry: Upstream,
      more: { classic?: object; oas?: object; balanced?: boolean } = {},
    ): Said => ({
      classic: {
        proxy: {
          enable_load_balancing: more.balanced ?? true,
          target_list: ['http://unused.invalid'],
          service_discovery: {
            use_discovery_service: true,
            query_endpoint: `${registry.url}/list`,
            endpoint_returns_list: true,
            use_target_list: true,
            data_path: 'host',
            port_data_path: 'port',
            cache_timeout: 1,
            ...more.classic,
          },
        },
      },
      oas: {
        upstream: {
          url: 'http://unused.invalid',
          loadBalancing: { enabled: more.balanced ?? true, targets: [{ url: 'http://unused.invalid', weight: 1 }] },
          serviceDiscovery: {
            enabled: true,
            queryEndpoint: `${registry.url}/list`,
            endpointReturnsList: true,
            useTargetList: true,
            dataPath: 'host',
            portDataPath: 'port',
            cache: { enabled: true, timeout: 1 },
            ...more.oas,
          },
        },
      },
    });
    const items = (...list: Pick<Upstream, 'port'>[]) =>
      JSON.stringify(list.map(({ port }) => ({ host: '127.0.0.1', port })));
    const answering = (registry: Upstream, text: string, status = 200) => {
      registry.answer = (_request, response) => response.writeHead(status).end(text);
    };

    test('calls go where the registry says, in turn where they are balanced, and follow it', async () => {
      const [registry, second] = await Promise.all([another(), another()]);
      for (const balanced of [true, false])
        for (const { url, form } of await publishBoth(app, upstream, registered(registry, { balanced }))) {
          answering(registry, items(upstream, second));
          await eventually(async () => {
            upstream.requests.length = 0;
            second.requests.length = 0;
            for (let at = 0; at < 8; at++) assert.equal((await got(`${url}/a?b=c`)).status, 200, form);
            assert.equal(upstream.requests[0]?.url, '/a?b=c');
            assert.equal(second.requests.length > 0, balanced);
          });
          answering(registry, items(second));
          upstream.requests.length = 0;
          await eventually(async () => {
            upstream.requests.length = 0;
            for (let at = 0; at < 4; at++) assert.equal((await got(`${url}/a`)).status, 200);
            assert.equal(upstream.requests.length, 0);
          });
        }
    });

    const big = `[${'{"host":"127.0.0.1"},'.repeat(2_500_000)}0]`;
    const lies: Record<string, (registry: Upstream) => void> = {
      fails: registry => answering(registry, '', 500),
      'sends elsewhere': registry => {
        registry.answer = (_request, response) => response.writeHead(302, { location: `${upstream.url}/` }).end();
      },
      'says nothing': registry => answering(registry, '[]'),
      'answers in HTML': registry => answering(registry, '<html>'),
      'nests without end': registry => answering(registry, '['.repeat(200_000) + ']'.repeat(200_000)),
      'answers 50 MB': registry => answering(registry, big),
      drips: registry => {
        registry.answer = (_request, response) => void response.writeHead(200).write('[');
      },
      'breaks off': registry => {
        registry.answer = request => void request.socket.destroy();
      },
      'names files': registry => answering(registry, '[{"host":"file:///etc/passwd"}]'),
      'names other APIs': registry => answering(registry, '[{"host":"gw://self"}]'),
      'names the secrets of the machine': registry => answering(registry, '[{"host":"169.254.169.254"}]'),
      'names credentials': registry => answering(registry, '[{"host":"user:pass@127.0.0.1"}]'),
    };

    test('while a registry lies, the last good list is used', async () => {
      const registry = await another();
      const apis = await publishBoth(
        app,
        upstream,
        registered(registry, { classic: { target_path: '/ok' }, oas: { targetPath: '/ok' } }),
      );
      answering(registry, items(upstream));
      for (const { url } of apis) for (let at = 0; at < 6; at++) assert.equal((await got(`${url}/y`)).status, 200);
      for (const [name, lie] of Object.entries(lies)) {
        registry.requests.length = 0;
        lie(registry);
        for (const { url } of apis)
          await eventually(async () => {
            const { status, text } = await got(`${url}/y`);
            assert.equal(status, 200, name);
            assert.equal(JSON.parse(text).url, '/ok/y');
            assert.ok(registry.requests.length > 0, name);
          });
      }
    });

    test('without any list, calls get 503', async () => {
      for (const [name, lie] of Object.entries(lies)) {
        if (name === 'drips') continue;
        const registry = await another();
        lie(registry);
        const [api] = await publishBoth(app, upstream, registered(registry));
        const { status, text, headers } = await got(`${api!.url}/y`);
        assert.deepEqual([status, text], [503, 'all hosts are down'], name);
        assert.match(headers.get('content-type') ?? '', /^text\/plain/);
      }
    });

    test('a registry that cannot be asked is said before any call is made', async () => {
      for (const address of ['file:///etc/passwd', 'gw://self', 'registry.example', 'http://user:pass@127.0.0.1/']) {
        const said = registered(upstream, {
          classic: { query_endpoint: address },
          oas: { queryEndpoint: address },
        });
        for (const { url } of await publishBoth(app, upstream, said)) {
          const { status, text } = await got(`${url}/y`);
          assert.deepEqual(
            [status, text],
            [503, errorBody('This API is not available: the address of its registry is not one that can be asked')],
          );
        }
      }
    });
  });
});
