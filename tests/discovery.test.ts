import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { type BothFormats, publishBoth } from './support/both-formats.ts';
import { eventually, startUpstream, type Upstream } from './support/upstream.ts';

const errorBody = (message: string) => `{\n    "error": ${JSON.stringify(message)}\n}`;

describe('Service discovery', () => {
  let app: TestApp;
  let upstream: Upstream;
  const others: Upstream[] = [];

  before(async () => {
    // Each thread queries registries for itself: with one thread the cached responses are known.
    [app, upstream] = await Promise.all([startApp('sqlite', { settings: { threads: '1' } }), startUpstream()]);
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

  const createDiscoveredApi = (
    registry: Upstream,
    more: { classic?: object; oas?: object; balanced?: boolean } = {},
  ): BothFormats => ({
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

  test('requests follow the hosts of the registry, in turn with load balancing', async () => {
    const [registry, second] = await Promise.all([another(), another()]);
    for (const balanced of [true, false])
      for (const { url, format } of await publishBoth(app, upstream, createDiscoveredApi(registry, { balanced }))) {
        answering(registry, items(upstream, second));
        await eventually(async () => {
          upstream.requests.length = 0;
          second.requests.length = 0;
          for (let at = 0; at < 8; at++) assert.equal((await got(`${url}/a?b=c`)).status, 200, format);
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

  test('with an invalid registry response the last valid list is used', async () => {
    const paths = { classic: { target_path: '/ok' }, oas: { targetPath: '/ok' } };
    const lied = Object.entries(lies).map(async ([name, lie]) => {
      const registry = await another();
      answering(registry, items(upstream));
      const apis = await publishBoth(app, upstream, createDiscoveredApi(registry, paths));
      for (const { url } of apis) assert.equal((await got(`${url}/y`)).status, 200, name);
      registry.requests.length = 0;
      lie(registry);
      for (const { url } of apis)
        await eventually(async () => {
          const { status, text } = await got(`${url}/y`);
          assert.equal(status, 200, name);
          assert.equal(JSON.parse(text).url, '/ok/y');
          assert.ok(registry.requests.length > 0, name);
        });
    });
    await Promise.all(lied);
  });

  test('without any list requests get 503', async () => {
    for (const [name, lie] of Object.entries(lies)) {
      if (name === 'drips') continue;
      const registry = await another();
      lie(registry);
      const [api] = await publishBoth(app, upstream, createDiscoveredApi(registry));
      const { status, text, headers } = await got(`${api!.url}/y`);
      assert.deepEqual([status, text], [503, 'all hosts are down'], name);
      assert.match(headers.get('content-type') ?? '', /^text\/plain/);
    }
  });

  test('an API with an invalid registry URL is not served', async () => {
    for (const address of ['ftp://127.0.0.1/', 'gw://self', 'registry.example', 'http://user:pass@127.0.0.1/']) {
      const definitions = createDiscoveredApi(upstream, {
        classic: { query_endpoint: address },
        oas: { queryEndpoint: address },
      });
      for (const { url } of await publishBoth(app, upstream, definitions)) {
        const { status, text } = await got(`${url}/y`);
        assert.deepEqual([status, text], [503, errorBody('This API is not available')]);
      }
    }
  });
});
