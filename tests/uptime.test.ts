import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { startApp, type TestApp } from './support/app.ts';
import { type BothFormats, publishBoth } from './support/both-formats.ts';
import { makeAuthority, makeServerCertificate } from './support/certificates.ts';
import { waitUntilApplied } from './support/traffic.ts';
import { eventually, startUpstream, type Upstream } from './support/upstream.ts';

interface HostEvent {
  readonly event: string;
  readonly api_id: string;
  readonly message: string;
  readonly host_info: Record<string, unknown>;
}

describe('Uptime tests', () => {
  let app: TestApp;
  let good: Upstream;
  let flapping: Upstream;
  const lines: string[] = [];
  const others: { close(): Promise<void> }[] = [];

  before(async () => {
    [app, good, flapping] = await Promise.all([
      startApp('sqlite', {
        onLog: line => lines.push(line),
        settings: { threads: '2', 'uptime.interval_ms': '60', 'uptime.failures': '2' },
      }),
      startUpstream(),
      startUpstream(),
    ]);
  });
  after(async () => {
    await app?.close();
    for (const it of [good, flapping, ...others]) await it?.close();
  });

  const healthy = (isHealthy: boolean) => {
    flapping.answer = (request, response) => {
      const isTest = request.url?.startsWith('/health');
      response.writeHead(isTest && !isHealthy ? 500 : 200).end(isTest ? '' : 'flapping');
    };
  };
  const events = (apiId: string): HostEvent[] =>
    lines.map(line => JSON.parse(line) as HostEvent).filter(it => it.api_id === apiId && /^Host/.test(it.event ?? ''));
  const call = async (url: string) => {
    const reply = await fetch(`${url}/x`);
    return { status: reply.status, text: await reply.text(), type: reply.headers.get('content-type') };
  };

  /** Both hosts behind one API, with these tests. */
  const createBalancedApi = (
    tests: { classic: object[]; oas: object[] },
    targets = [good.url, flapping.url],
  ): BothFormats => ({
    classic: {
      proxy: { enable_load_balancing: true, check_host_against_uptime_tests: true, target_list: targets },
      uptime_tests: { check_list: tests.classic },
    },
    oas: {
      upstream: {
        url: good.url,
        loadBalancing: {
          enabled: true,
          skipUnavailableHosts: true,
          targets: targets.map(url => ({ url, weight: 1 })),
        },
        uptimeTests: { enabled: true, tests: tests.oas },
      },
    },
  });
  const health = (upstream: Upstream) => {
    const headers = { 'x-secret': 'canary-of-uptime' };
    const body = Buffer.from('hello').toString('base64');
    return {
      classic: [{ url: `${upstream.url}/health?q=1`, method: 'POST', headers, body, timeout: 2000 }],
      oas: [{ url: `${upstream.url}/health?q=1`, method: 'POST', headers, body, timeout: '2s' }],
    };
  };

  test('a host with failing tests gets no requests until they pass, and events are emitted', async () => {
    healthy(true);
    const apis = await publishBoth(app, good, createBalancedApi(health(flapping)));
    const isUsed = async (expected: boolean) => {
      for (const { url } of apis)
        await eventually(async () => {
          const answers = await Promise.all(Array.from({ length: 8 }, () => call(url)));
          assert.ok(answers.every(({ status }) => status === 200));
          assert.equal(
            answers.some(({ text }) => text === 'flapping'),
            expected,
          );
        });
    };
    await isUsed(true);
    healthy(false);
    await isUsed(false);
    for (const { apiId } of apis) {
      await eventually(() => assert.ok(events(apiId).length >= 2));
      const [first] = events(apiId);
      assert.deepEqual([first?.event, first?.message], ['HostDown', 'Uptime test failed']);
      const { Latency, ...info } = first!.host_info;
      assert.equal(typeof Latency, 'number');
      assert.deepEqual(info, {
        CheckURL: `${flapping.url}/health`,
        ResponseCode: 500,
        IsTCPError: false,
        Method: 'POST',
        Headers: { 'x-secret': '' },
        Body: '',
        MetaData: {
          target_url: `${flapping.url}/health`,
          api_id: apiId,
          host_name: flapping.url.slice('http://'.length),
        },
      });
    }
    healthy(true);
    await isUsed(true);
    for (const { apiId } of apis) {
      await eventually(() => assert.equal(events(apiId).at(-1)?.event, 'HostUp'));
      assert.equal(events(apiId).filter(({ event }) => event === 'HostUp').length, 1);
    }
    assert.ok(!lines.some(line => line.includes('canary-of-uptime')));
    const sent = flapping.requests.find(({ url }) => url === '/health?q=1');
    assert.deepEqual([sent?.method, sent?.body, sent?.headers['x-secret']], ['POST', 'hello', 'canary-of-uptime']);
  });

  test('with all hosts down requests get 503 in plain text', async () => {
    healthy(false);
    for (const { url, apiId, format } of await publishBoth(
      app,
      flapping,
      createBalancedApi(health(flapping), [flapping.url]),
    )) {
      const { status, text, type } = await eventually(async () => {
        const answer = await call(url);
        assert.notEqual(answer.status, 200);
        return answer;
      });
      assert.deepEqual([status, text, type], [503, 'all hosts are down', 'text/plain; charset=utf-8']);
      // OpenAPI documents enable traffic logs explicitly.
      if (format === 'classic')
        await eventually(async () => {
          const { body } = await app.ask('GET', `/api/logs?start=0&end=9999999999&status=503&api_id=${apiId}`);
          assert.match(body.data[0].upstream_error, /^no_target: no target is up/);
        });
    }
  });

  test('the results of one API do not affect the hosts of another', async () => {
    healthy(false);
    const [tester] = await publishBoth(app, flapping, createBalancedApi(health(flapping), [flapping.url]));
    await eventually(async () => assert.equal((await call(tester!.url)).status, 503));
    for (const { url } of await publishBoth(app, flapping, createBalancedApi({ classic: [], oas: [] }, [flapping.url])))
      assert.equal((await call(url)).status, 200);
  });

  test('tests stop when their API is deleted', async () => {
    healthy(true);
    const marked = await startUpstream();
    others.push(marked);
    for (const { apiId } of await publishBoth(app, good, createBalancedApi(health(marked), [good.url]))) {
      await eventually(() => assert.ok(marked.requests.length > 0));
      const { status } = await app.ask('DELETE', `/api/apis/${apiId}`);
      assert.equal(status, 200);
      await waitUntilApplied(app);
    }
    // Whatever was under way has arrived once a later API has been tested several times.
    const later = await startUpstream();
    others.push(later);
    const rounds = async (count: number) => {
      later.requests.length = 0;
      await eventually(() => assert.ok(later.requests.length >= count));
    };
    await publishBoth(app, good, createBalancedApi(health(later), [good.url]));
    await rounds(6);
    marked.requests.length = 0;
    await rounds(20);
    assert.equal(marked.requests.length, 0);
  });

  describe('TCP tests', () => {
    const authority = makeAuthority();
    const leaf = makeServerCertificate(authority);
    /** Replies to a command after an optional PROXY protocol header. */
    async function talker(isSecure: boolean): Promise<{ port: number; received: string[]; answer: string }> {
      const talk = { port: 0, received: [] as string[], answer: '+PONG' };
      const sockets = new Set<Socket>();
      const begin = (socket: Socket) => {
        socket.on('error', () => undefined);
        socket.on('data', data => {
          talk.received.push(String(data));
          socket.write(talk.answer.slice(0, 2));
          socket.write(talk.answer.slice(2));
        });
      };
      const server = isSecure ? createTlsServer({ cert: leaf.chainPem, key: leaf.keyPem }) : createServer();
      server.on('connection', socket => sockets.add(socket));
      server.on(isSecure ? 'secureConnection' : 'connection', begin);
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
      others.push({
        close: () =>
          new Promise(resolve => {
            for (const socket of sockets) socket.destroy();
            server.close(() => resolve());
          }),
      });
      talk.port = (server.address() as AddressInfo).port;
      return talk;
    }
    const commands = [
      { name: 'send', message: 'PING' },
      { name: 'expect', message: '+PONG' },
    ];

    for (const isSecure of [false, true])
      test(`a host with the expected reply is up, ${isSecure ? 'over TLS' : 'in plain text'}`, async () => {
        const talk = await talker(isSecure);
        const scheme = isSecure ? 'tls' : 'tcp';
        const definitions = createBalancedApi(
          {
            classic: [{ url: `127.0.0.1:${talk.port}`, protocol: scheme, commands, timeout: 2000 }],
            oas: [{ url: `${scheme}://127.0.0.1:${talk.port}`, commands, timeout: '2s' }],
          },
          [good.url],
        );
        const lenient = { transport: { ssl_insecure_skip_verify: true } };
        const classic = { ...definitions.classic, proxy: { ...(definitions.classic.proxy as object), ...lenient } };
        const oas = {
          ...definitions.oas,
          upstream: { ...definitions.oas.upstream, tlsTransport: { insecureSkipVerify: true } },
        };
        const apis = await publishBoth(app, good, { classic, oas });
        await eventually(() => assert.ok(talk.received.length > 4));
        assert.ok(talk.received.every(word => word === 'PING'));
        for (const { apiId } of apis) assert.deepEqual(events(apiId), []);
        talk.answer = '-NOPE';
        for (const { apiId } of apis)
          await eventually(() => {
            const [first] = events(apiId);
            assert.deepEqual([first?.event, first?.host_info.IsTCPError], ['HostDown', true]);
          });
      });

    test('a PROXY protocol header is sent when configured', async () => {
      const talk = await talker(false);
      const check = { url: `tcp://127.0.0.1:${talk.port}`, enable_proxy_protocol: true, commands: [] };
      await publishBoth(app, good, createBalancedApi({ classic: [check], oas: [] }, [good.url]));
      await eventually(() =>
        assert.match(talk.received[0] ?? '', /^PROXY TCP4 127\.0\.0\.1 127\.0\.0\.1 \d+ \d+\r\n$/),
      );
    });
  });

  test('a list of tests can come from service discovery', async () => {
    healthy(false);
    const registry = await startUpstream();
    others.push(registry);
    const list = JSON.stringify([
      { url: `${flapping.url}/health`, method: 'GET' },
      { url: 7 },
      null,
      { url: 'gw://self' },
    ]);
    registry.answer = (_request, response) => response.end(JSON.stringify({ tests: list }));
    const discovery = { query_endpoint: registry.url, data_path: 'tests', use_discovery_service: true };
    const definitions: BothFormats = {
      classic: { uptime_tests: { check_list: [], config: { recheck_wait: 1, service_discovery: discovery } } },
      oas: {
        upstream: {
          url: good.url,
          uptimeTests: {
            enabled: true,
            tests: [],
            hostDownRetestPeriod: '1s',
            serviceDiscovery: { enabled: true, queryEndpoint: registry.url, dataPath: 'tests' },
          },
        },
      },
    };
    for (const { apiId } of await publishBoth(app, good, definitions))
      await eventually(() => assert.equal(events(apiId)[0]?.event, 'HostDown'));
  });
});
