import { createSign, generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchGateway } from './gateway.ts';
import type { Load } from './load.ts';

/** Fills a gateway, and says what is then asked of it. */
type Prepare = (gateway: BenchGateway, upstream: string, directory: string) => Promise<Omit<Load, 'connections'>>;

/** What is measured: how the gateway is filled, and what is then asked of it. */
export interface Scenario {
  readonly name: string;
  readonly threads?: number;
  /** TLS on both sides, of the gateway and of nginx. */
  readonly isTls?: true;
  /** How many calls are made on top, to see whether memory grows. */
  readonly calls?: number;
  /** The plainer scenario it is compared with. */
  readonly against?: string;
  /** Longer than usual, where much has to be seen once before it is known. */
  readonly warmUpSeconds?: number;
  /** The path asked of nginx for the ratio. */
  readonly yardstick: string;
  readonly yardstickScript?: string;
  readonly prepare: Prepare;
}

interface ApiWish {
  readonly id: string;
  readonly [member: string]: unknown;
}

async function publish(gateway: BenchGateway, upstream: string, { id, ...more }: ApiWish): Promise<string> {
  const definition = {
    api_id: id,
    name: id,
    active: true,
    proxy: { listen_path: `/${id}`, target_url: upstream, strip_listen_path: true },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    ...more,
  };
  const { status, body } = await gateway.ask('POST', '/api/apis', { api_definition: definition });
  if (status !== 200) throw new Error(`${id}: ${JSON.stringify(body)}`);
  return `${gateway.url}/${id}`;
}

const rights = (id: string) => ({ [id]: { api_id: id, api_name: id, versions: ['Default'] } });

async function issue(gateway: BenchGateway, key: Record<string, unknown>, path = '/api/keys'): Promise<string> {
  const { status, body } = await gateway.ask('POST', path, key);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return String(body.key_id);
}

const open = { use_keyless: true, disable_rate_limit: true, disable_quota: true, do_not_track: true };
const unlimited = { rate: 0, per: 0, quota_max: -1 };

async function keyless(gateway: BenchGateway, upstream: string) {
  return { url: `${await publish(gateway, upstream, { id: 'open', ...open })}/small` };
}

async function prepareCached(gateway: BenchGateway, upstream: string) {
  const cache_options = { enable_cache: true, cache_timeout: 3600, cache_all_safe_requests: true };
  return { url: `${await publish(gateway, upstream, { id: 'kept', ...open, cache_options })}/small` };
}

async function token(
  gateway: BenchGateway,
  upstream: string,
  limits: Record<string, unknown>,
  api: Record<string, unknown>,
) {
  const url = await publish(gateway, upstream, { id: 'guarded', use_standard_auth: true, ...api });
  const key = await issue(gateway, { ...limits, access_rights: rights('guarded') });
  return { url: `${url}/small`, headers: { authorization: key } };
}

const justToken: Prepare = (gateway, upstream) => token(gateway, upstream, unlimited, { do_not_track: true });

const limits = { rate: 100_000_000, per: 60, quota_max: 1_000_000_000, quota_renewal_rate: 86_400 };
const prepareLimited: Prepare = (gateway, upstream) => token(gateway, upstream, limits, {});

/** Asks for another API or key at every call, so that no cache of one entry helps. */
function script(directory: string, name: string, body: string): string {
  const file = join(directory, `${name}.lua`);
  writeFileSync(file, body);
  return file;
}

/** Loads one by one, and says what the first and the last of them cost. */
async function loadMany(
  gateway: BenchGateway,
  count: number,
  load: (n: number) => Promise<unknown>,
  atOnce = 1,
): Promise<void> {
  const sample = Math.min(500, count);
  const memoryBefore = gateway.memoryBytes();
  const costs: string[] = [];
  let cpu = gateway.cpuMicros();
  let started = performance.now();
  for (let n = 0; n < count; n += atOnce) {
    if (n === count - sample) [cpu, started] = [gateway.cpuMicros(), performance.now()];
    await Promise.all(Array.from({ length: Math.min(atOnce, count - n) }, (_, more) => load(n + more)));
    if (n + atOnce !== sample && n + atOnce !== count) continue;
    const micros = (gateway.cpuMicros() - cpu) / sample;
    costs.push(`${micros.toFixed(0)} µs CPU, ${((performance.now() - started) / sample).toFixed(2)} ms each`);
  }
  const perItem = (gateway.memoryBytes() - memoryBefore) / count / 1024;
  console.error(
    `  loading ${count}: first ${sample}: ${costs[0]}; last ${sample}: ${costs.at(-1)}; ${perItem.toFixed(1)} KiB each`,
  );
}

const manyApis =
  (count: number): Prepare =>
  async (gateway, upstream, directory) => {
    await loadMany(gateway, count, n => publish(gateway, upstream, { id: `api${n}`, ...open }));
    const lua = `local n = 0\nrequest = function() n = n + 1; return wrk.format('GET', '/api' .. (n * 7919 % ${count}) .. '/small') end`;
    return { url: gateway.url, script: script(directory, `apis${count}`, lua) };
  };

const manyKeys =
  (count: number): Prepare =>
  async (gateway, upstream, directory) => {
    await publish(gateway, upstream, { id: 'guarded', use_standard_auth: true, do_not_track: true });
    let prefix = '';
    await loadMany(
      gateway,
      count,
      async n => {
        const id = await issue(gateway, { ...unlimited, access_rights: rights('guarded') }, `/api/keys/bench${n}`);
        prefix = id.slice(0, id.indexOf('bench'));
      },
      count > 1 ? 20 : 1,
    );
    const lua = `local n = 0\nrequest = function() n = n + 1; return wrk.format('GET', '/guarded/small', {['authorization'] = '${prefix}bench' .. (n * 7919 % ${count})}) end`;
    return { url: gateway.url, script: script(directory, `keys${count}`, lua) };
  };

async function jwt(gateway: BenchGateway, upstream: string) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  await publish(gateway, upstream, {
    id: 'jwt',
    enable_jwt: true,
    jwt_signing_method: 'rsa',
    jwt_source: Buffer.from(pem).toString('base64'),
    jwt_identity_base_field: 'sub',
    jwt_default_policies: ['bench'],
    do_not_track: true,
  });
  await gateway.ask('POST', '/api/portal/policies', {
    id: 'bench',
    name: 'Bench',
    state: 'active',
    ...unlimited,
    access_rights: rights('jwt'),
  });
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ sub: 'bench', exp: Math.floor(Date.now() / 1000) + 3600 })}`;
  const signature = createSign('sha256').update(body).sign(privateKey).toString('base64url');
  return { url: `${gateway.url}/jwt/small`, headers: { authorization: `Bearer ${body}.${signature}` } };
}

async function basic(gateway: BenchGateway, upstream: string) {
  const url = await publish(gateway, upstream, { id: 'basic', use_basic_auth: true, do_not_track: true });
  await issue(
    gateway,
    { ...unlimited, access_rights: rights('basic'), basic_auth_data: { password: 'correct horse' } },
    '/api/apis/keys/basic/ann',
  );
  return {
    url: `${url}/small`,
    headers: { authorization: `Basic ${Buffer.from('ann:correct horse').toString('base64')}` },
  };
}

/** Two parameters and a body of some members, against the document. */
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
  const { status, body } = await gateway.ask('POST', '/gw/apis/oas', {
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
  return { url: `${gateway.url}/validated/post?limit=10`, script: script(directory, 'validated', lua) };
}

const toVersionData = (more: object) => ({
  not_versioned: true,
  versions: { Default: { name: 'Default', use_extended_paths: true, ...more } },
});

async function headerTransform(gateway: BenchGateway, upstream: string) {
  const version_data = toVersionData({
    global_headers: { 'X-Caller': '$gw_context.remote_addr', 'X-Fixed': 'yes' },
    global_headers_remove: ['Cookie'],
    global_response_headers: { 'X-Request': '$gw_context.request_id' },
    global_response_headers_remove: ['Server'],
  });
  const url = await publish(gateway, upstream, { id: 'headers', ...open, enable_context_vars: true, version_data });
  return { url: `${url}/small` };
}

async function rewrite(gateway: BenchGateway, upstream: string) {
  const entry = {
    path: '/items/{id}/{size}',
    method: 'GET',
    match_pattern: '/items/([^/]+)/(\\w+)',
    rewrite_to: '/$2?id=$1',
  };
  const version_data = toVersionData({ extended_paths: { url_rewrites: [entry] } });
  const url = await publish(gateway, upstream, { id: 'rewrite', ...open, version_data });
  return { url: `${url}/items/7/small` };
}

const post = (directory: string) =>
  script(
    directory,
    'post',
    `wrk.method = 'POST'\nwrk.body = string.rep('x', 10000)\nwrk.headers['content-type'] = 'text/plain'`,
  );

const order = (directory: string) =>
  script(
    directory,
    'order',
    `wrk.method = 'POST'\nwrk.body = [[${JSON.stringify({ id: 7, items: Array.from({ length: 20 }, (_, n) => ({ name: `item ${n}`, price: n * 1.5 })) })}]]\nwrk.headers['content-type'] = 'application/json'`,
  );

/** A raw request: wrk itself sends a length. */
const chunks = (directory: string, name: string, path: string) =>
  script(
    directory,
    name,
    `local body = '3e8\\r\\n' .. string.rep('x', 1000) .. '\\r\\n0\\r\\n\\r\\n'
request = function() return 'POST ${path} HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n' .. body end`,
  );

/** A body of a kilobyte is written anew on its way in, and a short one on its way out. */
async function bodyTransform(gateway: BenchGateway, upstream: string, directory: string) {
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
  const url = await publish(gateway, upstream, {
    id: 'open',
    ...open,
    version_data: { not_versioned: true, versions },
  });
  return { url: `${url}/post`, script: order(directory) };
}

export const scenarios = (directory: string): readonly Scenario[] => [
  { name: 'keyless', yardstick: '/small', prepare: keyless },
  { name: 'cache-hit', against: 'keyless', yardstick: '/small', prepare: prepareCached },
  { name: 'token', against: 'keyless', yardstick: '/small', prepare: justToken },
  { name: 'token, rate, quota, analytics', against: 'keyless', yardstick: '/small', prepare: prepareLimited },
  { name: 'header-transform', against: 'keyless', yardstick: '/small', prepare: headerTransform },
  { name: 'rewrite', against: 'keyless', yardstick: '/small', prepare: rewrite },
  { name: 'JWT RS256', against: 'keyless', yardstick: '/small', prepare: jwt },
  { name: 'basic', against: 'keyless', yardstick: '/small', prepare: basic },
  {
    name: '100 kB answer',
    yardstick: '/big',
    prepare: async (g, u) => ({ url: (await keyless(g, u)).url.replace('/small', '/big') }),
  },
  {
    name: 'POST 10 kB',
    yardstick: '/post',
    yardstickScript: post(directory),
    prepare: async (g, u) => ({ url: (await keyless(g, u)).url.replace('/small', '/post'), script: post(directory) }),
  },
  {
    name: 'chunked both ways',
    yardstick: '/chunked',
    yardstickScript: chunks(directory, 'chunks', '/chunked'),
    prepare: async (g, u) => {
      const { url } = await keyless(g, u);
      return { url, script: chunks(directory, 'gateway-chunks', '/open/chunked') };
    },
  },
  {
    name: 'TLS both ways',
    isTls: true,
    yardstick: '/small',
    prepare: async (g, u) => {
      const transport = { ssl_insecure_skip_verify: true };
      const proxy = { listen_path: '/open', target_url: u, strip_listen_path: true, transport };
      return { url: `${await publish(g, u, { id: 'open', ...open, proxy })}/small` };
    },
  },
  {
    name: 'validate-request',
    against: 'POST 10 kB',
    yardstick: '/post',
    yardstickScript: post(directory),
    prepare: prepareValidated,
  },
  {
    name: 'body-transform',
    against: 'POST 10 kB',
    yardstick: '/post',
    yardstickScript: order(directory),
    prepare: bodyTransform,
  },
  { name: '1 API', yardstick: '/small', prepare: manyApis(1) },
  { name: '10,000 APIs', against: '1 API', warmUpSeconds: 20, yardstick: '/small', prepare: manyApis(10_000) },
  { name: '1 key', yardstick: '/small', prepare: manyKeys(1) },
  { name: '100,000 keys', against: '1 key', warmUpSeconds: 30, yardstick: '/small', prepare: manyKeys(100_000) },
  { name: 'keyless, 2 threads', threads: 2, against: 'keyless', yardstick: '/small', prepare: keyless },
  { name: 'a million calls', calls: 1_000_000, against: 'keyless', yardstick: '/small', prepare: prepareLimited },
];
