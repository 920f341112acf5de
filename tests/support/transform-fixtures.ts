import assert from 'node:assert/strict';
import type { TestApp } from './app.ts';
import { type Published, publishBoth } from './both-formats.ts';
import type { Received, Upstream } from './upstream.ts';

/** Transforms of an API, written once for both formats. */
export interface Shaping {
  context?: boolean;
  /** Asks for a key. */
  guarded?: boolean;
  request?: Headers;
  response?: Headers;
  endpoints?: Endpoint[];
  classic?: Record<string, unknown>;
  oas?: Record<string, object>;
}

interface Headers {
  enabled?: boolean;
  add?: Record<string, string>;
  remove?: string[];
}

export interface Endpoint {
  path: string;
  method?: string;
  request?: Headers;
  response?: Headers;
  toMethod?: string;
  rewrite?: { pattern: string; to?: string; triggers?: TriggerWish[] };
  internal?: boolean;
}

/** Rules by where they look, as the classic format has them. */
export interface TriggerWish {
  on: 'any' | 'all';
  to: string;
  header?: Rules;
  query?: Rules;
  path?: Rules;
  meta?: Rules;
  context?: Rules;
  body?: Rule;
}
/** A pattern; `!` in front of it negates. */
type Rule = string;
type Rules = Record<string, Rule>;

const pairs = (add: Record<string, string> = {}) => Object.entries(add).map(([name, value]) => ({ name, value }));
const places = { header: 'header', query: 'query', path: 'path', meta: 'sessionMetadata', context: 'requestContext' };
const groups = {
  header: 'header_matches',
  query: 'query_val_matches',
  path: 'path_part_matches',
  meta: 'session_meta_matches',
  context: 'request_context_matches',
};
type Place = keyof typeof places;

const classicRule = (rule: Rule) => ({ match_rx: rule.replace(/^!/, ''), reverse: rule.startsWith('!') });
const oasRule = (rule: Rule) => ({ pattern: rule.replace(/^!/, ''), negate: rule.startsWith('!') });

function classicTrigger({ on, to, body, ...rest }: TriggerWish) {
  const options: Record<string, unknown> = body ? { payload_matches: classicRule(body) } : {};
  for (const [place, rules] of Object.entries(rest) as [Place, Rules][])
    options[groups[place]] = Object.fromEntries(Object.entries(rules).map(([name, it]) => [name, classicRule(it)]));
  return { on, rewrite_to: to, options };
}

function oasTrigger({ on, to, body, ...rest }: TriggerWish) {
  const rules = (Object.entries(rest) as [Place, Rules][]).flatMap(([place, named]) =>
    Object.entries(named).map(([name, rule]) => ({ in: places[place], name, ...oasRule(rule) })),
  );
  return {
    condition: on,
    rewriteTo: to,
    rules: [...rules, ...(body ? [{ in: 'requestBody', ...oasRule(body) }] : [])],
  };
}

function classicLists(endpoints: Endpoint[]) {
  const lists: Record<string, object[]> = {};
  const put = (list: string, entry: object) => {
    lists[list] ??= [];
    lists[list].push(entry);
  };
  for (const { path, method = 'GET', request, response, toMethod, rewrite, internal } of endpoints) {
    const place = { path, method };
    const headers = (it: Headers) => ({
      ...place,
      disabled: it.enabled === false,
      add_headers: it.add ?? {},
      delete_headers: it.remove ?? [],
    });
    if (request) put('transform_headers', headers(request));
    if (response) put('transform_response_headers', headers(response));
    if (toMethod) put('method_transforms', { ...place, to_method: toMethod });
    if (internal) put('internal', place);
    if (rewrite) {
      const triggers = (rewrite.triggers ?? []).map(classicTrigger);
      put('url_rewrites', { ...place, match_pattern: rewrite.pattern, rewrite_to: rewrite.to ?? '', triggers });
    }
  }
  return lists;
}

const oasHeaders = (it: Headers) => ({ enabled: it.enabled ?? true, add: pairs(it.add), remove: it.remove ?? [] });

function oasOperations(endpoints: Endpoint[]) {
  const paths: Record<string, Record<string, object>> = {};
  const operations: Record<string, object> = {};
  for (const [at, { path, method = 'GET', request, response, toMethod, rewrite, internal }] of endpoints.entries()) {
    const operationId = `op${at}`;
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: { operationId, responses: { 200: { description: 'ok' } } },
    };
    operations[operationId] = {
      ...(request ? { transformRequestHeaders: oasHeaders(request) } : {}),
      ...(response ? { transformResponseHeaders: oasHeaders(response) } : {}),
      ...(toMethod ? { transformRequestMethod: { enabled: true, toMethod } } : {}),
      ...(internal ? { internal: { enabled: true } } : {}),
      ...(rewrite
        ? {
            urlRewrite: {
              enabled: true,
              pattern: rewrite.pattern,
              rewriteTo: rewrite.to ?? '',
              triggers: (rewrite.triggers ?? []).map(oasTrigger),
            },
          }
        : {}),
    };
  }
  return { paths: withParameters(paths), operations };
}

/** OpenAPI requires a declaration of every path parameter. */
function withParameters(paths: Record<string, Record<string, object>>) {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => {
      const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
        name,
        in: 'path',
        required: true,
        schema: { type: 'string' },
      }));
      return [path, parameters.length > 0 ? { ...item, parameters } : item];
    }),
  );
}

export function shape(app: TestApp, upstream: Pick<Upstream, 'url'>, wish: Shaping): Promise<Published[]> {
  const { context = false, guarded = false, request, response, endpoints = [] } = wish;
  const { paths, operations } = oasOperations(endpoints);
  const version = {
    name: 'Default',
    use_extended_paths: true,
    extended_paths: classicLists(endpoints),
    global_headers: request?.add ?? {},
    global_headers_remove: request?.remove ?? [],
    global_headers_disabled: request?.enabled === false,
    global_response_headers: response?.add ?? {},
    global_response_headers_remove: response?.remove ?? [],
    global_response_headers_disabled: response?.enabled === false,
  };
  return publishBoth(app, upstream, {
    classic: {
      use_keyless: !guarded,
      ...(guarded ? { use_standard_auth: true, auth_configs: { authToken: {} } } : {}),
      enable_context_vars: context,
      version_data: { not_versioned: true, versions: { Default: version } },
      ...wish.classic,
    },
    oas: {
      ...(guarded ? { server: guard } : {}),
      middleware: {
        global: {
          contextVariables: { enabled: context },
          trafficLogs: { enabled: true },
          ...(request ? { transformRequestHeaders: oasHeaders(request) } : {}),
          ...(response ? { transformResponseHeaders: oasHeaders(response) } : {}),
        },
        operations,
      },
      ...wish.oas,
    },
    document: { paths, ...(guarded ? components : {}) },
  });
}

const guard = { authentication: { enabled: true, securitySchemes: { authToken: { enabled: true } } } };
const components = {
  components: { securitySchemes: { authToken: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
  security: [{ authToken: [] }],
};

/** A key for these APIs, with this metadata. */
export async function keyFor(
  app: TestApp,
  apis: readonly Pick<Published, 'apiId'>[],
  meta_data: Record<string, unknown> = {},
) {
  const access_rights = Object.fromEntries(
    apis.map(({ apiId }) => [apiId, { api_id: apiId, api_name: apiId, versions: ['Default', ''] }]),
  );
  const { status, text, body } = await app.ask('POST', '/api/keys', { body: { meta_data, access_rights } });
  assert.equal(status, 200, text);
  return String(body.key_id);
}

/** What the upstream got of one call. */
export async function fetchForwarded(upstream: Upstream, url: string, init: RequestInit = {}): Promise<Received> {
  const before = upstream.requests.length;
  const reply = await fetch(url, init);
  const text = await reply.text();
  assert.equal(reply.status, 200, text);
  assert.equal(upstream.requests.length, before + 1);
  return upstream.requests.at(-1)!;
}
