import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { JsonObject } from '#base/json-tree.ts';
import { errorBody } from '../../support/step-harness.ts';
import { eventually, type Upstream } from '../../support/upstream.ts';
import { lists, operation, place, snake, statuses, statusOf, version } from '../definitions.ts';
import type { Effect, Ground, Served } from '../effect.ts';

/** Upstreams: where they are, how they do, how long they may take. */

/** Short interval of uptime tests, and a long default cache time of registry responses. */
const settings = { 'uptime.interval_ms': '50', 'uptime.failures': '1', 'discovery.cache_ttl_seconds': '3600' };
const upstream = (more: JsonObject) => ({ x: { upstream: more } });
/** Servers of an effect by the id of its API. */
const servers = new Map<string, Upstream>();
async function server({ id, another }: Ground): Promise<Upstream> {
  const made = await another();
  servers.set(id, made);
  return made;
}
const serverOf = ({ id }: Ground): Upstream => servers.get(id)!;

/** Calls go to these, and not to hosts that tests found down. */
const createBalancing = (urls: readonly string[]) => ({
  classic: { enable_load_balancing: true, check_host_against_uptime_tests: true, target_list: urls },
  oas: {
    loadBalancing: { enabled: true, skipUnavailableHosts: true, targets: urls.map(url => ({ url, weight: 1 })) },
  },
});
/** An API with two hosts, or one, that are tested so. */
const createUptimeTests = (
  hosts: readonly string[],
  classic: JsonObject,
  oas: JsonObject = classic,
): { classic: JsonObject; oas: { x: JsonObject } } => ({
  classic: { proxy: createBalancing(hosts).classic, uptime_tests: { disabled: false, check_list: [classic] } },
  oas: upstream({ ...createBalancing(hosts).oas, uptimeTests: { enabled: true, tests: [oas] } }),
});

/** Which of the hosts behind an API get calls. */
async function listUsedHosts({ call }: Served): Promise<Set<string>> {
  const answers = await Promise.all(Array.from({ length: 6 }, () => call('/who')));
  return new Set(answers.map(({ status, text }) => (status === 200 ? text : String(status))));
}
const becomesUsed = (at: Served, ...names: string[]) =>
  eventually(async () => assert.deepEqual([...(await listUsedHosts(at))].sort(), names.sort()), 4000);

/** Returns its name; `health` determines the response to uptime tests. */
const naming =
  (name: string, health: (...call: Parameters<NonNullable<Upstream['answer']>>) => void): Upstream['answer'] =>
  (request, response, body) =>
    request.url === '/who' ? response.end(name) : health(request, response, body);

/** Service discovery in both formats: the same members for upstreams and uptime tests. */
const discovery = (words: JsonObject, seconds: number) => ({
  classic: { use_discovery_service: true, ...snake(words), cache_disabled: false, cache_timeout: seconds },
  oas: { enabled: true, ...words, cache: { enabled: true, timeout: seconds } },
});
type Discovery = ReturnType<typeof discovery>;
const saying = (registry: Upstream, reply: unknown) => {
  registry.answer = (_request, response) => response.end(JSON.stringify(reply));
};

/** The two users of registries: their configuration, and how each shows which response it used. */
const askers = [
  {
    facet: 'serviceDiscovery',
    classic: (it: Discovery) => ({ proxy: { service_discovery: it.classic, enable_load_balancing: true } }),
    oas: (it: Discovery) =>
      upstream({
        loadBalancing: { enabled: true, targets: [{ url: 'http://unused.invalid', weight: 1 }] },
        serviceDiscovery: it.oas,
      }),
    item: (name: string, { upstream, id }: Ground) => `127.0.0.1:${upstream.port}/${id}-${name}`,
    shows: (at: Served, name: string) =>
      eventually(async () => assert.equal((await at.call('/thing')).body.url, `/${at.id}-${name}/thing`)),
  },
  {
    facet: 'uptimeDiscovery',
    classic: (it: Discovery) => ({ uptime_tests: { config: { service_discovery: it.classic } } }),
    oas: (it: Discovery) => upstream({ uptimeTests: { enabled: true, serviceDiscovery: it.oas } }),
    item: (name: string, { upstream, id }: Ground) => JSON.stringify([{ url: `${upstream.url}/${id}-${name}` }]),
    shows: ({ upstream: { requests }, id }: Served, name: string) =>
      eventually(() => assert.ok(requests.some(({ url }) => url === `/${id}-${name}`))),
  },
] as const;

const discoveryEffects = askers.flatMap(({ facet, classic, oas, item, shows }): Effect[] => {
  const createDiscovery = (words: JsonObject) => {
    const createRegistry = async (at: Ground) => {
      const registry = await server(at);
      return { ...words, queryEndpoint: `${registry.url}/registry` };
    };
    return {
      classic: async (at: Ground) => classic(discovery(await createRegistry(at), 1)),
      oas: async (at: Ground) => oas(discovery(await createRegistry(at), 1)),
    };
  };
  const followRegistry = async (at: Served, reply: (text: string) => unknown) => {
    for (const name of ['first', 'second']) {
      saying(serverOf(at), reply(item(name, at)));
      await shows(at, name);
    }
    assert.ok(serverOf(at).requests.every(({ url }) => url === '/registry'));
  };
  return [
    {
      rows: `${facet}.enabled,queryEndpoint,dataPath,useTargetList,parentDataPath,cacheEnabled,cacheSeconds`,
      promise: `a service registry is polled (${facet})`,
      settings,
      ...createDiscovery({ dataPath: 'is.at', useTargetList: true, parentDataPath: 'found.all' }),
      observe: at => followRegistry(at, text => ({ found: { all: [{ is: { at: text } }] } })),
    },
    {
      rows: `${facet}.useNestedQuery,endpointReturnsList,parentDataPath`,
      promise: `a service registry returns a list of JSON strings (${facet})`,
      settings,
      ...createDiscovery({ dataPath: 'at', useNestedQuery: true, endpointReturnsList: true, parentDataPath: 'value' }),
      observe: at => followRegistry(at, text => [{ value: JSON.stringify({ at: text }) }]),
    },
  ];
});

export const resilience: readonly Effect[] = [
  ...discoveryEffects,
  {
    rows: 'serviceDiscovery.portDataPath,targetPath,useTargetList',
    promise: 'a service registry returns hosts and ports separately, and all targets share one path',
    settings,
    ...(() => {
      const words = { dataPath: 'host', portDataPath: 'port', targetPath: '/base', useTargetList: true };
      const createRegistry = async (at: Ground) => {
        const registry = await server(at);
        const items = [at.upstream, registry].map(({ port }) => ({ host: '127.0.0.1', port }));
        registry.answer = ({ url }, response) =>
          response.end(url === '/registry' ? JSON.stringify({ list: items }) : JSON.stringify({ url: `other ${url}` }));
        return discovery({ ...words, parentDataPath: 'list', queryEndpoint: `${registry.url}/registry` }, 3600);
      };
      return {
        classic: async (at: Ground) => askers[0].classic(await createRegistry(at)),
        oas: async (at: Ground) => askers[0].oas(await createRegistry(at)),
      };
    })(),
    async observe({ call }) {
      const urls = new Set<string>();
      for (let n = 0; n < 4; n++) urls.add((await call()).body.url);
      assert.deepEqual([...urls].sort(), ['/base/thing', 'other /base/thing']);
    },
  },
  {
    rows: 'uptimeTests.hostDownRetestSeconds',
    promise: 'a list of uptime tests is reloaded after its TTL',
    settings,
    classic: async at => {
      const { classic } = discovery({ queryEndpoint: (await server(at)).url, dataPath: 'tests' }, 3600);
      return { uptime_tests: { config: { recheck_wait: 1, service_discovery: classic } } };
    },
    oas: async at => {
      const { oas } = discovery({ queryEndpoint: (await server(at)).url, dataPath: 'tests' }, 3600);
      return upstream({ uptimeTests: { enabled: true, hostDownRetestPeriod: '1s', serviceDiscovery: oas } });
    },
    async observe(at) {
      for (const name of ['first', 'second']) {
        saying(serverOf(at), { tests: askers[1].item(name, at) });
        await askers[1].shows(at, name);
      }
    },
  },
  {
    rows: 'loadBalancing.enabled,targets',
    promise: 'requests are balanced over the targets by weight',
    classic: ({ upstream: { url } }) => ({
      proxy: { enable_load_balancing: true, target_list: [`${url}/one`, `${url}/one`, `${url}/two`] },
    }),
    oas: ({ upstream: { url } }) => {
      const targets = [
        { url: `${url}/one`, weight: 2 },
        { url: `${url}/two`, weight: 1 },
      ];
      return upstream({ loadBalancing: { enabled: true, targets } });
    },
    async observe(at) {
      assert.deepEqual(await statuses(at, 6), [200, 200, 200, 200, 200, 200]);
      const urls = at.upstream.requests.map(({ url }) => url).sort();
      assert.deepEqual(urls, [...Array(4).fill('/one/thing'), ...Array(2).fill('/two/thing')]);
    },
  },
  {
    rows: 'loadBalancing.skipUnavailableHosts uptimeTests.enabled,tests,tests[].url,tests[].timeoutMs,tests[].method,tests[].headers,tests[].body',
    promise: 'a host with a failing uptime test gets no requests',
    settings,
    ...(() => {
      const check = { method: 'PUT', headers: { 'x-own': 'mine' }, body: Buffer.from('hello').toString('base64') };
      const createUptimeTest = async (at: Ground) => {
        const other = await server(at);
        const url = `${other.url}/health`;
        return createUptimeTests(
          [at.upstream.url, other.url],
          { ...check, url, timeout: 100 },
          { ...check, url, timeout: '100ms' },
        );
      };
      return {
        classic: async (at: Ground) => (await createUptimeTest(at)).classic,
        oas: async (at: Ground) => (await createUptimeTest(at)).oas,
      };
    })(),
    async observe(at) {
      at.upstream.answer = naming('good', () => assert.fail('nobody tests this one'));
      serverOf(at).answer = naming('other', (_request, response) => response.writeHead(500).end());
      await becomesUsed(at, 'good');
      serverOf(at).answer = naming('other', ({ url, method, headers }, response, body) => {
        const asked = [url, method, headers['x-own'], body].join(' ');
        response.writeHead(asked === '/health PUT mine hello' ? 200 : 500).end();
      });
      await becomesUsed(at, 'good', 'other');
      serverOf(at).answer = naming('other', () => undefined);
      await becomesUsed(at, 'good');
    },
  },
  {
    rows: 'uptimeTests.tests[].protocol,tests[].commands,tests[].commands[].name,tests[].commands[].message',
    promise: 'a host is tested by TCP commands',
    settings,
    ...(() => {
      const commands = [
        { name: 'send', message: 'GET /alive HTTP/1.0\r\n\r\n' },
        { name: 'expect', message: 'HTTP/1.1 200' },
      ];
      const createTcpTest = ({ upstream: { url, port } }: Ground) =>
        createUptimeTests(
          [url],
          { url: `127.0.0.1:${port}`, protocol: 'tcp', commands },
          { url: `tcp://127.0.0.1:${port}`, commands },
        );
      return { classic: (at: Ground) => createTcpTest(at).classic, oas: (at: Ground) => createTcpTest(at).oas };
    })(),
    async observe(at) {
      const alive = (status: number) => {
        at.upstream.answer = naming('it', ({ url }, response) =>
          response.writeHead(url === '/alive' ? status : 400).end(),
        );
      };
      alive(500);
      await becomesUsed(at, '503');
      alive(200);
      await becomesUsed(at, 'it');
    },
  },
  {
    rows: 'uptimeTests.tests[].enableProxyProtocol',
    promise: 'a TCP test sends a PROXY protocol header',
    settings,
    classic: async at => {
      const url = `tcp://127.0.0.1:${await listener(at)}`;
      return createUptimeTests([at.upstream.url], { url, enable_proxy_protocol: true }).classic;
    },
    oas: async at => {
      const url = `tcp://127.0.0.1:${await listener(at)}`;
      return createUptimeTests([at.upstream.url], {}, { url, enableProxyProtocol: true }).oas;
    },
    observe: ({ id }) =>
      eventually(() => assert.match(received.get(id) ?? '', /^PROXY TCP4 127\.0\.0\.1 127\.0\.0\.1 \d+ \d+\r\n/)),
  },
  {
    rows: 'timeout.enabled,ms',
    promise: 'a slow upstream times out',
    classic: () => version({ global_enforce_timeout_disabled: false, global_enforce_timeout: '60ms' }),
    oas: () => upstream({ enforceTimeout: { enabled: true, duration: '60ms' } }),
    ownControl: 'without the rows the same request gets its response, however late',
    async observe(at) {
      const plain = await at.plain();
      const late = Promise.withResolvers<void>();
      at.upstream.answer = (_request, response) => void late.promise.then(() => response.end());
      const other = statusOf(plain, '/any');
      assert.equal(await statusOf(at, '/any'), 504);
      late.resolve();
      assert.equal(await other, 200);
    },
  },
  ...(
    [
      ['ms', '60ms', 600],
      ['seconds', '', 1],
    ] as const
  ).map(
    ([row, duration, whole]): Effect => ({
      rows: `endpoints.enforceTimeout.path,method,enabled,${row}`,
      promise: 'a slow upstream times out at an endpoint',
      classic: () => lists({ hard_timeouts: [{ ...place, timeout: whole, duration }] }),
      oas: () => operation({ enforceTimeout: { enabled: true, value: whole, ...(duration && { duration }) } }),
      ownControl: 'another endpoint gets its response, however late',
      async observe(at) {
        assert.equal(await statusOf(at), 200);
        const late = Promise.withResolvers<void>();
        at.upstream.answer = ({ url }, response) => void (url === '/other' && late.promise.then(() => response.end()));
        const other = statusOf(at, '/other');
        assert.equal(await statusOf(at), 504);
        late.resolve();
        assert.equal(await other, 200);
      },
    }),
  ),
  ...(
    [
      [false, 1],
      [true, 600],
    ] as const
  ).map(
    ([halfOpen, seconds]): Effect => ({
      rows: `endpoints.circuitBreaker.path,method,enabled,threshold,sampleSize,${halfOpen ? 'halfOpenStateEnabled' : 'coolDownPeriod'}`,
      promise: halfOpen
        ? 'a half-open circuit breaker closes after a successful request'
        : 'a circuit breaker opens after failures for its return time',
      classic: () =>
        lists({
          circuit_breakers: [
            {
              ...place,
              threshold_percent: 0.5,
              samples: 4,
              return_to_service_after: seconds,
              disable_half_open_state: !halfOpen,
            },
          ],
        }),
      oas: () =>
        operation({
          circuitBreaker: {
            enabled: true,
            threshold: 0.5,
            sampleSize: 4,
            coolDownPeriod: seconds,
            halfOpenStateEnabled: halfOpen,
          },
        }),
      async observe(at) {
        const planned = [500, 200, 200, 200, 500, 500];
        const next = [...planned];
        at.upstream.answer = (_request, response) => response.writeHead(next.shift() ?? 200).end();
        assert.deepEqual(await statuses(at, planned.length), planned);
        const { status, text } = await at.call();
        assert.deepEqual([status, text], [503, errorBody('Service temporarily unavailable.')]);
        assert.equal(await statusOf(at, '/other'), 200);
        await eventually(async () => assert.equal(await statusOf(at), 200));
      },
    }),
  ),
  {
    rows: 'upstream.preserveHostHeader,preserveTrailingSlash',
    promise: 'the upstream gets the host of the caller, and the final slash of its address',
    classic: ({ upstream: { url } }) => ({
      proxy: { target_url: `${url}/base/`, preserve_host_header: true, disable_strip_slash: true },
    }),
    oas: ({ upstream: { url } }) =>
      upstream({
        url: `${url}/base/`,
        preserveHostHeader: { enabled: true },
        preserveTrailingSlash: { enabled: true },
      }),
    async observe({ call, app }) {
      const { body } = await call('');
      assert.deepEqual([body.url, body.headers.host], ['/base/', new URL(app.url.gateway).host]);
    },
  },
];

/** What arrived at a listener, by the id of the API. */
const received = new Map<string, string>();
async function listener({ id, open }: Ground): Promise<number> {
  const listening = createServer(socket => {
    socket.on('error', () => undefined);
    socket.on('data', data => received.set(id, String(data)));
  });
  await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve));
  open.push({ close: async () => listening.close() });
  return (listening.address() as { port: number }).port;
}
