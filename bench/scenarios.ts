import { createSign, generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchGraph, confirmGraph } from './data-graph.ts';
import { benchSupergraph, confirmSupergraph } from './federation.ts';
import type { BenchGateway } from './gateway.ts';
import type { Load } from './load.ts';
import { createMcpScenarios } from './mcp.ts';
import { type MeasuredProcess, startPinned, waitForPort } from './processes.ts';

/** Creates the objects of a scenario in a gateway, and returns its load. */
type Prepare = (gateway: BenchGateway, upstream: string, directory: string) => Promise<Omit<Load, 'connections'>>;

/** One measurement: the objects of the gateway, and the load. */
export interface Scenario {
  readonly name: string;
  readonly threads?: number;
  /** TLS on both sides, of the gateway and of nginx. */
  readonly isTls?: true;
  /** Further requests, to see whether memory grows. */
  readonly memoryRequests?: number;
  /** Name of the scenario it is compared with. */
  readonly baseline?: string;
  /** Longer than the default, where caches of many entries have to fill. */
  readonly warmUpSeconds?: number;
  /** Path and wrk script of the requests to nginx, for the ratio. */
  readonly nginxPath: string;
  readonly nginxScript?: string;
  /** Settings of the gateway, as environment variables. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Starts a server that the gateway calls beside the upstream, on the cores of the upstream. */
  readonly startPeer?: (cores: string) => Promise<MeasuredProcess>;
  readonly prepare: Prepare;
}

interface ApiMembers {
  readonly id: string;
  readonly [member: string]: unknown;
}

async function createApi(gateway: BenchGateway, upstream: string, { id, ...more }: ApiMembers): Promise<string> {
  const definition = {
    api_id: id,
    name: id,
    active: true,
    proxy: { listen_path: `/${id}`, target_url: upstream, strip_listen_path: true },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    ...more,
  };
  const { status, body } = await gateway.send('POST', '/api/apis', { api_definition: definition });
  if (status !== 200) throw new Error(`${id}: ${JSON.stringify(body)}`);
  return `${gateway.url}/${id}`;
}

const toAccessRights = (id: string) => ({ [id]: { api_id: id, api_name: id, versions: ['Default'] } });

async function createKey(gateway: BenchGateway, key: Record<string, unknown>, path = '/api/keys'): Promise<string> {
  const { status, body } = await gateway.send('POST', path, key);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return String(body.key_id);
}

const open = { use_keyless: true, disable_rate_limit: true, disable_quota: true, do_not_track: true };
const unlimited = { rate: 0, per: 0, quota_max: -1 };

async function prepareKeyless(gateway: BenchGateway, upstream: string) {
  return { url: `${await createApi(gateway, upstream, { id: 'open', ...open })}/small` };
}

const pluginFile = { GW_PLUGINS_DIRECTORY: join(import.meta.dirname, 'plugins') };

async function preparePlugin(gateway: BenchGateway, upstream: string) {
  const custom_middleware = { driver: 'typescript', pre: [{ name: 'pre', path: 'header.ts' }] };
  return { url: `${await createApi(gateway, upstream, { id: 'plugin', ...open, custom_middleware })}/small` };
}

const encode = (code: string) => Buffer.from(code).toString('base64');
const preScript = `const pre = new GwJS.GwMiddleware.NewMiddleware({});
pre.NewProcessRequest(function (request) {
  request.SetHeaders['X-Plugin'] = 'yes';
  return pre.ReturnData(request, {});
});`;

async function prepareScript(gateway: BenchGateway, upstream: string) {
  const custom_middleware = { driver: 'javascript', pre: [{ name: 'pre', path: '', code: encode(preScript) }] };
  return { url: `${await createApi(gateway, upstream, { id: 'script', ...open, custom_middleware })}/small` };
}

/** Port of the server of gRPC plugins. */
const grpcPort = 18_095;

async function startGrpcServer(cores: string): Promise<MeasuredProcess> {
  const program = join(import.meta.dirname, 'grpc-plugin-server.ts');
  const server = startPinned(cores, process.execPath, [program, String(grpcPort)]);
  await waitForPort(grpcPort, server);
  return server;
}

async function prepareGrpc(gateway: BenchGateway, upstream: string) {
  const custom_middleware = { driver: 'grpc', pre: [{ name: 'pre', path: '' }] };
  return { url: `${await createApi(gateway, upstream, { id: 'grpc', ...open, custom_middleware })}/small` };
}

async function prepareVirtual(gateway: BenchGateway, upstream: string) {
  const virtual = {
    path: '/small',
    method: 'GET',
    response_function_name: 'hello',
    function_source_type: 'blob',
    function_source_uri: encode("function hello() { return GwJsResponse({ Code: 200, Body: 'hello' }, {}); }"),
  };
  const versions = { Default: { name: 'Default', use_extended_paths: true, extended_paths: { virtual: [virtual] } } };
  const version_data = { not_versioned: true, versions };
  return { url: `${await createApi(gateway, upstream, { id: 'virtual', ...open, version_data })}/small` };
}

async function prepareCached(gateway: BenchGateway, upstream: string) {
  const cache_options = { enable_cache: true, cache_timeout: 3600, cache_all_safe_requests: true };
  return { url: `${await createApi(gateway, upstream, { id: 'cached', ...open, cache_options })}/small` };
}

async function prepareToken(
  gateway: BenchGateway,
  upstream: string,
  limits: Record<string, unknown>,
  api: Record<string, unknown>,
) {
  const url = await createApi(gateway, upstream, { id: 'guarded', use_standard_auth: true, ...api });
  const key = await createKey(gateway, { ...limits, access_rights: toAccessRights('guarded') });
  return { url: `${url}/small`, headers: { authorization: key } };
}

const prepareUnlimited: Prepare = (gateway, upstream) =>
  prepareToken(gateway, upstream, unlimited, { do_not_track: true });

const limits = { rate: 100_000_000, per: 60, quota_max: 1_000_000_000, quota_renewal_rate: 86_400 };
const prepareLimited: Prepare = (gateway, upstream) => prepareToken(gateway, upstream, limits, {});

/** Writes a wrk script. */
function writeScript(directory: string, name: string, body: string): string {
  const file = join(directory, `${name}.lua`);
  writeFileSync(file, body);
  return file;
}

/** Creates many objects, and prints what the first and the last of them cost. */
async function createMany(
  gateway: BenchGateway,
  count: number,
  create: (n: number) => Promise<unknown>,
  concurrency = 1,
): Promise<void> {
  const sample = Math.min(500, count);
  const memoryBefore = gateway.memoryBytes();
  const costs: string[] = [];
  let cpu = gateway.cpuMicros();
  let startedMs = performance.now();
  for (let n = 0; n < count; n += concurrency) {
    if (n === count - sample) [cpu, startedMs] = [gateway.cpuMicros(), performance.now()];
    await Promise.all(Array.from({ length: Math.min(concurrency, count - n) }, (_, more) => create(n + more)));
    if (n + concurrency !== sample && n + concurrency !== count) continue;
    const micros = (gateway.cpuMicros() - cpu) / sample;
    costs.push(`${micros.toFixed(0)} µs CPU, ${((performance.now() - startedMs) / sample).toFixed(2)} ms each`);
  }
  const perItem = (gateway.memoryBytes() - memoryBefore) / count / 1024;
  console.error(
    `  creating ${count}: first ${sample}: ${costs[0]}; last ${sample}: ${costs.at(-1)}; ${perItem.toFixed(1)} KiB each`,
  );
}

/** Every request goes to another API, so that no cache of one entry has an effect. */
const prepareApis =
  (count: number): Prepare =>
  async (gateway, upstream, directory) => {
    await createMany(gateway, count, n => createApi(gateway, upstream, { id: `api${n}`, ...open }));
    const lua = `local n = 0\nrequest = function() n = n + 1; return wrk.format('GET', '/api' .. (n * 7919 % ${count}) .. '/small') end`;
    return { url: gateway.url, script: writeScript(directory, `apis${count}`, lua) };
  };

/** Every request has another key. */
const prepareKeys =
  (count: number): Prepare =>
  async (gateway, upstream, directory) => {
    await createApi(gateway, upstream, { id: 'guarded', use_standard_auth: true, do_not_track: true });
    let prefix = '';
    await createMany(
      gateway,
      count,
      async n => {
        const id = await createKey(
          gateway,
          { ...unlimited, access_rights: toAccessRights('guarded') },
          `/api/keys/bench${n}`,
        );
        prefix = id.slice(0, id.indexOf('bench'));
      },
      count > 1 ? 20 : 1,
    );
    const lua = `local n = 0\nrequest = function() n = n + 1; return wrk.format('GET', '/guarded/small', {['authorization'] = '${prefix}bench' .. (n * 7919 % ${count})}) end`;
    return { url: gateway.url, script: writeScript(directory, `keys${count}`, lua) };
  };

async function prepareJwt(gateway: BenchGateway, upstream: string) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  await createApi(gateway, upstream, {
    id: 'jwt',
    enable_jwt: true,
    jwt_signing_method: 'rsa',
    jwt_source: Buffer.from(pem).toString('base64'),
    jwt_identity_base_field: 'sub',
    jwt_default_policies: ['bench'],
    do_not_track: true,
  });
  await gateway.send('POST', '/api/portal/policies', {
    id: 'bench',
    name: 'Bench',
    state: 'active',
    ...unlimited,
    access_rights: toAccessRights('jwt'),
  });
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ sub: 'bench', exp: Math.floor(Date.now() / 1000) + 3600 })}`;
  const signature = createSign('sha256').update(body).sign(privateKey).toString('base64url');
  return { url: `${gateway.url}/jwt/small`, headers: { authorization: `Bearer ${body}.${signature}` } };
}

async function prepareBasic(gateway: BenchGateway, upstream: string) {
  const url = await createApi(gateway, upstream, { id: 'basic', use_basic_auth: true, do_not_track: true });
  await createKey(
    gateway,
    { ...unlimited, access_rights: toAccessRights('basic'), basic_auth_data: { password: 'correct horse' } },
    '/api/apis/keys/basic/ann',
  );
  return {
    url: `${url}/small`,
    headers: { authorization: `Basic ${Buffer.from('ann:correct horse').toString('base64')}` },
  };
}

/** Validation of a parameter and a body against the OpenAPI document. */
async function prepareValidated(gateway: BenchGateway, upstream: string, directory: string) {
  const member = { type: 'string', minLength: 1, maxLength: 100, pattern: '^[a-z0-9 ]+$' };
  const names = ['name', 'street', 'city', 'country', 'note'];
  const schema = {
    type: 'object',
    required: names,
    additionalProperties: false,
    properties: Object.fromEntries([
      ...names.map(name => [name, member]),
      ['ids', { type: 'array', items: { type: 'integer' } }],
    ]),
  };
  const operation = {
    operationId: 'post',
    parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100 } }],
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {},
  };
  const { status, body } = await gateway.send('POST', '/gw/apis/oas', {
    openapi: '3.0.3',
    info: { title: 'validated', version: '1' },
    paths: { '/post': { post: operation } },
    'x-gw-api-gateway': {
      info: { id: 'validated', name: 'validated', state: { active: true } },
      server: { listenPath: { value: '/validated/', strip: true } },
      upstream: { url: upstream },
      middleware: {
        global: { trafficLogs: { enabled: false } },
        operations: { post: { validateRequest: { enabled: true } } },
      },
    },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  const sent = JSON.stringify({
    ...Object.fromEntries(names.map(name => [name, 'a text of some words'])),
    ids: [1, 2, 3],
  });
  const lua = `wrk.method = 'POST'\nwrk.body = '${sent}'\nwrk.headers['content-type'] = 'application/json'`;
  return { url: `${gateway.url}/validated/post?limit=10`, script: writeScript(directory, 'validated', lua) };
}

const toVersionData = (more: object) => ({
  not_versioned: true,
  versions: { Default: { name: 'Default', use_extended_paths: true, ...more } },
});

async function prepareHeaderTransform(gateway: BenchGateway, upstream: string) {
  const version_data = toVersionData({
    global_headers: { 'X-Caller': '$gw_context.remote_addr', 'X-Fixed': 'yes' },
    global_headers_remove: ['Cookie'],
    global_response_headers: { 'X-Request': '$gw_context.request_id' },
    global_response_headers_remove: ['Server'],
  });
  const url = await createApi(gateway, upstream, { id: 'headers', ...open, enable_context_vars: true, version_data });
  return { url: `${url}/small` };
}

async function prepareRewrite(gateway: BenchGateway, upstream: string) {
  const entry = {
    path: '/items/{id}/{size}',
    method: 'GET',
    match_pattern: '/items/([^/]+)/(\\w+)',
    rewrite_to: '/$2?id=$1',
  };
  const version_data = toVersionData({ extended_paths: { url_rewrites: [entry] } });
  const url = await createApi(gateway, upstream, { id: 'rewrite', ...open, version_data });
  return { url: `${url}/items/7/small` };
}

const writePostScript = (directory: string) =>
  writeScript(
    directory,
    'post',
    `wrk.method = 'POST'\nwrk.body = string.rep('x', 10000)\nwrk.headers['content-type'] = 'text/plain'`,
  );

const writeOrderScript = (directory: string) =>
  writeScript(
    directory,
    'order',
    `wrk.method = 'POST'\nwrk.body = [[${JSON.stringify({ id: 7, items: Array.from({ length: 20 }, (_, n) => ({ name: `item ${n}`, price: n * 1.5 })) })}]]\nwrk.headers['content-type'] = 'application/json'`,
  );

/** Script with a raw request: wrk itself sends a Content-Length. */
const writeChunkedScript = (directory: string, name: string, path: string) =>
  writeScript(
    directory,
    name,
    `local body = '3e8\\r\\n' .. string.rep('x', 1000) .. '\\r\\n0\\r\\n\\r\\n'
request = function() return 'POST ${path} HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n' .. body end`,
  );

/** Transforms a request body of a kilobyte and a short response body. */
async function prepareBodyTransform(gateway: BenchGateway, upstream: string, directory: string) {
  const entry = (template: string) => ({
    path: '/post',
    method: 'POST',
    template_data: {
      input_type: 'json',
      template_mode: 'blob',
      template_source: Buffer.from(template).toString('base64'),
    },
  });
  const extended_paths = {
    transform: [
      entry(
        '{"order":{{.id}},"lines":[{{range $i, $it := .items}}{{if $i}},{{end}}{"what":{{$it.name | jsonMarshal}},"cost":{{$it.price}}}{{end}}]}',
      ),
    ],
    transform_response: [entry('{"done":true}')],
  };
  const versions = { Default: { name: 'Default', use_extended_paths: true, extended_paths } };
  const url = await createApi(gateway, upstream, {
    id: 'open',
    ...open,
    version_data: { not_versioned: true, versions },
  });
  return { url: `${url}/post`, script: writeOrderScript(directory) };
}

async function prepareDataGraph(gateway: BenchGateway, upstream: string) {
  const api = await createApi(gateway, upstream, { id: 'graph', ...open, graphql: benchGraph(upstream) });
  return { url: await confirmGraph(api) };
}

async function prepareSupergraph(gateway: BenchGateway, upstream: string) {
  const api = await createApi(gateway, upstream, { id: 'supergraph', ...open, graphql: benchSupergraph(upstream) });
  return { url: await confirmSupergraph(api) };
}

const graphqlSchema = 'type User { id: ID! name: String } type Query { users(first: Int): [User] }';

const writeGraphqlScript = (directory: string) =>
  writeScript(
    directory,
    'graphql',
    `wrk.method = 'POST'\nwrk.body = [[${JSON.stringify({ query: 'query A($n: Int) { users(first: $n) { id name } }', variables: { n: 2 } })}]]\nwrk.headers['content-type'] = 'application/json'`,
  );

/** GraphQL proxy: one document, checked from the cache. */
async function prepareGraphql(gateway: BenchGateway, upstream: string, directory: string) {
  const graphql = { enabled: true, execution_mode: 'proxyOnly', version: '2', schema: graphqlSchema };
  const proxy = { listen_path: '/graph', target_url: `${upstream}/post`, strip_listen_path: true };
  const url = await createApi(gateway, upstream, { id: 'graph', ...open, graphql, proxy });
  return { url, script: writeGraphqlScript(directory) };
}

export const createScenarios = (directory: string): readonly Scenario[] => [
  { name: 'keyless', nginxPath: '/small', prepare: prepareKeyless },
  { name: 'cache-hit', baseline: 'keyless', nginxPath: '/small', prepare: prepareCached },
  { name: 'token', baseline: 'keyless', nginxPath: '/small', prepare: prepareUnlimited },
  { name: 'token, rate, quota, analytics', baseline: 'keyless', nginxPath: '/small', prepare: prepareLimited },
  { name: 'header-transform', baseline: 'keyless', nginxPath: '/small', prepare: prepareHeaderTransform },
  { name: 'rewrite', baseline: 'keyless', nginxPath: '/small', prepare: prepareRewrite },
  {
    name: 'TypeScript hook, sandbox',
    baseline: 'keyless',
    nginxPath: '/small',
    settings: pluginFile,
    prepare: preparePlugin,
  },
  {
    name: 'TypeScript hook, trusted',
    baseline: 'keyless',
    nginxPath: '/small',
    settings: { ...pluginFile, GW_PLUGINS_TRUSTED: 'header.ts' },
    prepare: preparePlugin,
  },
  { name: 'JavaScript pre hook, sandbox', baseline: 'keyless', nginxPath: '/small', prepare: prepareScript },
  {
    name: 'JavaScript pre hook, worker',
    baseline: 'keyless',
    nginxPath: '/small',
    settings: { GW_PLUGINS_RUN_ON: 'worker' },
    prepare: prepareScript,
  },
  {
    name: 'gRPC pre hook',
    baseline: 'keyless',
    nginxPath: '/small',
    settings: { GW_PLUGINS_GRPC_ADDRESS: `tcp://127.0.0.1:${grpcPort}` },
    startPeer: startGrpcServer,
    prepare: prepareGrpc,
  },
  { name: 'virtual endpoint', baseline: 'keyless', nginxPath: '/small', prepare: prepareVirtual },
  { name: 'JWT RS256', baseline: 'keyless', nginxPath: '/small', prepare: prepareJwt },
  { name: 'basic', baseline: 'keyless', nginxPath: '/small', prepare: prepareBasic },
  {
    name: '100 kB response',
    nginxPath: '/big',
    prepare: async (g, u) => ({ url: (await prepareKeyless(g, u)).url.replace('/small', '/big') }),
  },
  {
    name: 'POST 10 kB',
    nginxPath: '/post',
    nginxScript: writePostScript(directory),
    prepare: async (g, u) => ({
      url: (await prepareKeyless(g, u)).url.replace('/small', '/post'),
      script: writePostScript(directory),
    }),
  },
  {
    name: 'chunked both ways',
    nginxPath: '/chunked',
    nginxScript: writeChunkedScript(directory, 'chunks', '/chunked'),
    prepare: async (g, u) => {
      const { url } = await prepareKeyless(g, u);
      return { url, script: writeChunkedScript(directory, 'gateway-chunks', '/open/chunked') };
    },
  },
  {
    name: 'TLS both ways',
    isTls: true,
    nginxPath: '/small',
    prepare: async (g, u) => {
      const transport = { ssl_insecure_skip_verify: true };
      const proxy = { listen_path: '/open', target_url: u, strip_listen_path: true, transport };
      return { url: `${await createApi(g, u, { id: 'open', ...open, proxy })}/small` };
    },
  },
  {
    name: 'graphql-proxy',
    baseline: 'POST 10 kB',
    nginxPath: '/post',
    nginxScript: writeGraphqlScript(directory),
    prepare: prepareGraphql,
  },
  {
    name: 'validate-request',
    baseline: 'POST 10 kB',
    nginxPath: '/post',
    nginxScript: writePostScript(directory),
    prepare: prepareValidated,
  },
  {
    name: 'body-transform',
    baseline: 'POST 10 kB',
    nginxPath: '/post',
    nginxScript: writeOrderScript(directory),
    prepare: prepareBodyTransform,
  },
  { name: 'data graph, 3 sources', baseline: 'keyless', nginxPath: '/small', prepare: prepareDataGraph },
  { name: 'supergraph, 3 subgraphs', baseline: 'keyless', nginxPath: '/small', prepare: prepareSupergraph },
  ...createMcpScenarios(directory),
  { name: '1 API', nginxPath: '/small', prepare: prepareApis(1) },
  { name: '10,000 APIs', baseline: '1 API', warmUpSeconds: 20, nginxPath: '/small', prepare: prepareApis(10_000) },
  { name: '1 key', nginxPath: '/small', prepare: prepareKeys(1) },
  { name: '100,000 keys', baseline: '1 key', warmUpSeconds: 30, nginxPath: '/small', prepare: prepareKeys(100_000) },
  { name: 'keyless, 2 threads', threads: 2, baseline: 'keyless', nginxPath: '/small', prepare: prepareKeyless },
  {
    name: 'a million requests',
    memoryRequests: 1_000_000,
    baseline: 'keyless',
    nginxPath: '/small',
    prepare: prepareLimited,
  },
];
