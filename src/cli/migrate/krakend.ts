import { arrayOrEmpty, isObject, isZeroValue, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { createMigrationPlan, type MigrationPlan, type PlanBuilder } from './plan.ts';
import { type ProxyRoute, toProxiedDefinition } from './proxied-api.ts';
import { parseExport, readExports } from './read-exports.ts';

/** Configuration of KrakenD: each path of an endpoint becomes an API, its methods an allow list. */

const toText = (value: unknown) => (typeof value === 'string' ? value : '');
const readList = (value: unknown) => arrayOrEmpty(value).filter(isObject);

export function readKrakendConfig(path: string): MigrationPlan {
  const plan = createMigrationPlan();
  for (const file of readExports(path, /\.(json|ya?ml)$/i, plan))
    for (const value of parseExport(file, plan) ?? []) {
      if (isObject(value) && Array.isArray(value.endpoints)) readConfig(plan, file.path, value);
      else plan.leaveOut(file.path, 'document', 'it is no configuration: endpoints must be a list');
    }
  return plan.build();
}

const readMembers = new Set('$schema version name host endpoints extra_config port timeout output_encoding'.split(' '));

function readConfig(plan: PlanBuilder, path: string, config: JsonObject): void {
  for (const name of Object.keys(config)) if (!readMembers.has(name)) plan.leaveOut(path, name, 'it is not moved');
  const extra = objectOrEmpty(config.extra_config);
  for (const name of Object.keys(extra))
    if (name !== 'security/cors') plan.leaveOut(path, `extra_config.${name}`, 'it is not moved');
  const cors = toCors(extra['security/cors']);
  const endpoints = new Map<string, Endpoint[]>();
  for (const [index, endpoint] of readList(config.endpoints).entries()) {
    const read = readEndpoint(plan, { path, place: `endpoints[${index}]`, config, endpoint });
    if (read) endpoints.set(read.path, [...(endpoints.get(read.path) ?? []), read]);
  }
  for (const [listenPath, sameMethods] of endpoints) addApi(plan, path, listenPath, sameMethods, cors);
}

interface Endpoint {
  readonly path: string;
  readonly method: string;
  readonly place: string;
  readonly hosts: readonly string[];
  readonly rewrite: string;
  readonly rate: JsonObject | undefined;
  readonly notes: readonly string[];
}

interface EndpointInput {
  readonly path: string;
  readonly place: string;
  readonly config: JsonObject;
  readonly endpoint: JsonObject;
}

/** Members of a backend that change or filter the response: without them clients get other, or more, data. */
const backendTransforms = ['allow', 'deny', 'group', 'target', 'mapping', 'is_collection', 'whitelist', 'blacklist'];
const plainEncodings = ['', 'json', 'no-op', 'safejson', 'string'];

function findReason({ endpoint }: EndpointInput, backends: readonly JsonObject[]): string | undefined {
  if (backends.length !== 1) return `it merges the responses of ${backends.length} backends`;
  const [backend] = backends as [JsonObject];
  const transform = backendTransforms.find(name => !isZeroValue(backend[name]));
  if (transform) return `its backend changes the response (${transform})`;
  if (!plainEncodings.includes(toText(backend.encoding)))
    return `its backend has the encoding ${toText(backend.encoding)}`;
  if (!plainEncodings.includes(toText(endpoint.output_encoding)))
    return `it has the encoding ${toText(endpoint.output_encoding)}`;
  const guard = Object.keys(objectOrEmpty(endpoint.extra_config)).find(name =>
    /^(auth|validation|security|modifier|plugin)\//.test(name),
  );
  if (guard) return `${guard} cannot be expressed, and the API would be less protected`;
  const change = Object.keys(objectOrEmpty(backend.extra_config)).find(name =>
    /^(auth|modifier|plugin|backend|validation)\//.test(name),
  );
  return change && `its backend needs ${change}`;
}

function readEndpoint(plan: PlanBuilder, input: EndpointInput): Endpoint | undefined {
  const { path, place, config, endpoint } = input;
  const route = toText(endpoint.endpoint);
  const method = (toText(endpoint.method) || 'GET').toUpperCase();
  const label = `${place} ${method} ${route}`;
  const backends = readList(endpoint.backend);
  const reason = route.startsWith('/') ? findReason(input, backends) : 'it has no path';
  if (reason) {
    plan.leaveOut(path, label, reason);
    return undefined;
  }
  const [backend] = backends as [JsonObject];
  const own = arrayOrEmpty(backend.host).map(toText).filter(Boolean);
  const hosts = (own.length > 0 ? own : arrayOrEmpty(config.host).map(toText)).filter(host => URL.canParse(host));
  if (hosts.length === 0 || hosts.some(host => !/^https?:/.test(host))) {
    plan.leaveOut(path, label, 'its backend has no host of HTTP');
    return undefined;
  }
  const rewrite = toRewrite(route, toText(backend.url_pattern) || route);
  if (rewrite === undefined || (toText(backend.method) || method).toUpperCase() !== method) {
    plan.leaveOut(path, label, 'its backend has other parameters, or another method');
    return undefined;
  }
  listSettings(plan, path, label, endpoint);
  const { rate, notes } = readRate(endpoint);
  return {
    path: route,
    method,
    place: label,
    hosts,
    rewrite,
    rate,
    notes: [...notes, ...describeForwarding(endpoint)],
  };
}

/** Settings of an endpoint that have no place in an API. */
function listSettings(plan: PlanBuilder, path: string, label: string, endpoint: JsonObject): void {
  for (const name of ['timeout', 'cache_ttl', 'concurrent_calls'])
    if (!isZeroValue(endpoint[name])) plan.leaveOut(path, `${label} ${name}`, 'it is not moved');
  for (const name of Object.keys(objectOrEmpty(endpoint.extra_config)))
    if (name !== 'qos/ratelimit/router') plan.leaveOut(path, `${label} ${name}`, 'it is not moved');
}

const parameter = /\{([A-Za-z0-9_]+)\}/g;

/** Path of the backend with the groups of the path pattern; undefined where it has other parameters. */
function toRewrite(route: string, backend: string): string | undefined {
  const names = [...route.matchAll(parameter)].map(([, name]) => name!.toLowerCase());
  let isKnown = true;
  const to = backend.replaceAll(parameter, (_whole, name: string) => {
    const index = names.indexOf(name.toLowerCase());
    isKnown &&= index >= 0;
    return `$${index + 1}`;
  });
  return isKnown && !/[{}]/.test(to) ? to : undefined;
}

const escapePattern = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
const toPattern = (route: string) =>
  `^${route
    .split(parameter)
    .map((part, index) => (index % 2 === 1 ? '([^/?]+)' : escapePattern(part)))
    .join('')}(?:\\?.*)?$`;

function readRate(endpoint: JsonObject): { rate: JsonObject | undefined; notes: string[] } {
  const { max_rate, client_max_rate } = objectOrEmpty(objectOrEmpty(endpoint.extra_config)['qos/ratelimit/router']);
  const notes = isZeroValue(client_max_rate)
    ? []
    : ['the rate limit of each client is not moved: set it in keys or policies'];
  return { rate: typeof max_rate === 'number' && max_rate > 0 ? { rate: max_rate, per: 1 } : undefined, notes };
}

function describeForwarding(endpoint: JsonObject): string[] {
  const headers = arrayOrEmpty(endpoint.input_headers ?? endpoint.headers_to_pass);
  const query = arrayOrEmpty(endpoint.input_query_strings ?? endpoint.querystring_params);
  return headers.includes('*') && query.includes('*') ? [] : ['all headers and query parameters are forwarded'];
}

function toCors(config: unknown): JsonObject | undefined {
  if (!isObject(config)) return undefined;
  const readNames = (name: string) => arrayOrEmpty(config[name]).map(toText).filter(Boolean);
  return {
    enable: true,
    allowed_origins: readNames('allow_origins'),
    allowed_methods: readNames('allow_methods'),
    allowed_headers: readNames('allow_headers'),
    exposed_headers: readNames('expose_headers'),
    allow_credentials: config.allow_credentials === true,
  };
}

/** One API for the methods of a path: they share hosts, or the others are listed. */
function addApi(
  plan: PlanBuilder,
  path: string,
  route: string,
  endpoints: readonly Endpoint[],
  cors: JsonObject | undefined,
): void {
  const [first] = endpoints as [Endpoint];
  const same = endpoints.filter(({ hosts, place }) => {
    const isSame = hosts.join() === first.hosts.join();
    if (!isSame) plan.leaveOut(path, place, `its hosts are not those of ${first.method}`);
    return isSame;
  });
  const pattern = toPattern(route);
  const api: ProxyRoute = {
    name: route,
    listenPath: route,
    stripListenPath: false,
    preserveHost: false,
    targets: first.hosts.map(url => ({ url, weight: 1 })),
    methods: same.map(({ method }) => method),
    rewrites: same
      .filter(({ rewrite }) => rewrite !== route)
      .map(({ method, rewrite }) => ({ method, pattern, to: rewrite })),
    members: { ...(first.rate && { global_rate_limit: first.rate }), ...(cors && { CORS: cors }) },
  };
  const definition = toProxiedDefinition(api);
  const notes = [...new Set(same.flatMap(it => it.notes))];
  plan.add({ kind: 'API', id: definition.api_id, source: `${path}: ${first.place}`, body: definition, notes });
}
