import { isIP } from 'node:net';
import { arrayOrEmpty, type JsonObject, objectOrEmpty, textOrEmpty } from '#base/json-tree.ts';
import { truncateText } from '#base/problems.ts';
import { loadGraphqlLanguage } from '#languages/lazy-languages.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import { loadDataGraphCheck } from './data-graph/lazy-data-graph.ts';
import { features } from './definition.ts';
import { graphql as graphqlFacet } from './facets/graphql.ts';
import { checkGraphqlVariables } from './graphql-variables.ts';
import { type Model, normalizeClassic } from './model.ts';
import { findPathTemplateError } from './path-template.ts';
import { readFacet } from './read-fields.ts';
import { composeDefinition } from './supergraph/supergraph.ts';
import type { ClassicDefinition } from './wire-types.ts';

type Check = (definition: ClassicDefinition) => ValidationError[];

const authMethodSwitches: readonly (readonly [mode: string, switches: readonly string[]])[] = [
  ['authToken', ['use_standard_auth']],
  ['jwt', ['enable_jwt']],
  ['hmac', ['enable_signature_checking']],
  ['oauth', ['use_oauth2']],
  ['oidc', ['use_openid']],
  ['coprocess', ['custom_plugin_auth_enabled', 'use_go_plugin_auth', 'enable_coprocess_auth']],
];

const checkAuthSources: Check = raw => {
  const definition = normalizeClassic(raw);
  return authMethodSwitches.flatMap(([mode, switches]) => {
    const on = !definition.use_keyless && switches.some(name => definition[name] === true);
    const { disable_header, use_param, use_cookie } = objectOrEmpty(objectOrEmpty(definition.auth_configs)[mode]);
    if (!on || disable_header !== true || use_param === true || use_cookie === true) return [];
    const message = `all auth sources are disabled for ${mode}, at least one of header/cookie/query must be enabled`;
    return [{ path: `auth_configs.${mode}`, message }];
  });
};

/** IP address, or range in CIDR notation. */
export function isAddressRange(text: string): boolean {
  const [address, bits, ...more] = text.split('/');
  const family = isIP(address ?? '');
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

const checkIpRanges: Check = definition =>
  [
    ['allowed_ips', 'enable_ip_whitelisting'],
    ['blacklisted_ips', 'enable_ip_blacklisting'],
  ].flatMap(([name, on]) =>
    definition[on!] !== true
      ? []
      : arrayOrEmpty(definition[name!]).flatMap((entry, at) =>
          isAddressRange(textOrEmpty(entry))
            ? []
            : [{ path: `${name}[${at}]`, message: `invalid IP/CIDR ${JSON.stringify(entry)}` }],
        ),
  );

const checkListenPath: Check = ({ proxy, domain }) => [
  ...(/\s/.test(proxy?.listen_path ?? '') ? [{ path: 'proxy.listen_path', message: 'must not contain spaces' }] : []),
  ...checkPathTemplate('proxy.listen_path', proxy?.listen_path, '/'),
  ...checkPathTemplate('domain', domain, ''),
  ...checkHostPort('domain', domain),
];

/** Rejects a port in a host: requests are matched by host without port, so such a route would never match. */
export const checkHostPort = (path: string, host: unknown): ValidationError[] =>
  /:\d*$/.test(textOrEmpty(host).replaceAll(/\{[^}]*\}+/g, 'x'))
    ? [{ path, message: 'must not contain a port: the listener has the dedicated port' }]
    : [];

const methodName = /^(?!(?:any|all)$)[A-Za-z]+(?:-[A-Za-z]+)*$/i;

const listNames = Object.values(features).flatMap(({ classic }) => classic ?? []);

/** Rejects an entry that matches no request: in a block list it would leave its endpoint open. */
const checkEndpointLists: Check = ({ version_data }) =>
  Object.entries(objectOrEmpty(objectOrEmpty(version_data).versions)).flatMap(([version, settings]) =>
    listNames.flatMap(name =>
      arrayOrEmpty(objectOrEmpty(objectOrEmpty(settings).extended_paths)[name]).flatMap((entry, at) =>
        typeof entry === 'string'
          ? []
          : checkEndpointEntry(`version_data.versions.${version}.extended_paths.${name}[${at}]`, objectOrEmpty(entry)),
      ),
    ),
  );

function checkEndpointEntry(place: string, { path, method, method_actions }: JsonObject): ValidationError[] {
  const actionMethods = Object.keys(objectOrEmpty(method_actions)).map(
    name => [`${place}.method_actions`, name] as const,
  );
  const entryMethod = typeof method === 'string' && method !== '' ? [[`${place}.method`, method] as const] : [];
  const wrong = [...entryMethod, ...actionMethods].filter(([, name]) => !methodName.test(name));
  return [
    ...(path === undefined || path === null ? [{ path: `${place}.path`, message: 'is required' }] : []),
    ...wrong.map(([where, name]) => ({
      path: where,
      message: `${JSON.stringify(name)} is not the name of a method; none stands for every method`,
    })),
  ];
}

/** Rejects a path or host template that cannot be compiled. */
export function checkPathTemplate(path: string, text: unknown, divider: '/' | ''): ValidationError[] {
  const message = findPathTemplateError(textOrEmpty(text), divider);
  return message === undefined ? [] : [{ path, message }];
}

const checkListenPort: Check = ({ protocol, listen_port }) =>
  (protocol === 'tcp' || protocol === 'tls') && !listen_port
    ? [{ path: 'listen_port', message: `is needed by a ${protocol} service` }]
    : [];

const checkTargets: Check = ({ proxy }) => {
  const { enable_load_balancing, target_list, service_discovery } = objectOrEmpty(proxy);
  const discovered = objectOrEmpty(service_discovery).use_discovery_service === true;
  return enable_load_balancing === true && !discovered && arrayOrEmpty(target_list).length === 0
    ? [{ path: 'proxy.target_list', message: 'must name at least one target when load balancing is on' }]
    : [];
};

const checkDataSourceNames: Check = ({ graphql }) => {
  const seen = new Set<string>();
  return arrayOrEmpty(objectOrEmpty(objectOrEmpty(graphql).engine).data_sources).flatMap((source, at) => {
    const name = textOrEmpty(objectOrEmpty(source).name).trim().toLowerCase();
    if (name === '' || !seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [{ path: `graphql.engine.data_sources[${at}].name`, message: 'is the name of another data source' }];
  });
};

/** The schema of a GraphQL API, and the data sources of a data graph; drafts may have no schema yet. */
const checkGraphqlSchema: Check = definition => {
  const { enabled, execution_mode, schema } = objectOrEmpty(definition.graphql);
  const mode = textOrEmpty(execution_mode);
  const sdl = textOrEmpty(schema);
  if (enabled !== true || !checkedModes.has(mode)) return [];
  const block = readFacet(graphqlFacet, 'classic', definition, {}) as Model['graphql'];
  if (mode === 'supergraph') return checkSupergraph(block);
  const graph = mode === 'executionEngine' ? loadDataGraphCheck().readDataGraph(block) : undefined;
  if (sdl.trim() === '') return [...(graph?.errors ?? [])];
  const { compileGraphqlSchema, compileSubgraphSchema, InvalidGraphqlSchema } = loadGraphqlLanguage();
  try {
    const isSubgraph = mode === 'subgraph' && block.subgraphSdl.trim() !== '';
    const compiled = isSubgraph ? compileSubgraphSchema(sdl, block.subgraphSdl) : compileGraphqlSchema(sdl);
    return graph ? [...graph.errors, ...loadDataGraphCheck().checkDataGraph(graph, compiled)] : [];
  } catch (error) {
    if (error instanceof InvalidGraphqlSchema)
      return [{ path: 'graphql.schema', message: `is invalid: ${truncateText(error.message, maxSchemaErrorLength)}` }];
    throw error;
  }
};

/** Drafts may have no subgraphs yet. */
function checkSupergraph(block: Model['graphql']): ValidationError[] {
  if (block.subgraphs.length === 0) return [];
  const composed = composeDefinition(block);
  return 'errors' in composed ? [...composed.errors] : [];
}

const checkedModes: ReadonlySet<string> = new Set(['', 'proxyOnly', 'executionEngine', 'subgraph', 'supergraph']);

/** Errors of a schema quote it. */
const maxSchemaErrorLength = 1000;

const checkUpstreamAuth: Check = ({ upstream_auth }) => {
  const { enabled, basic_auth, oauth } = objectOrEmpty(upstream_auth);
  return enabled === true && objectOrEmpty(basic_auth).enabled === true && objectOrEmpty(oauth).enabled === true
    ? [{ path: 'upstream_auth', message: 'basic and OAuth authentication cannot both be enabled' }]
    : [];
};

const checks: readonly Check[] = [
  checkAuthSources,
  checkIpRanges,
  checkListenPath,
  checkEndpointLists,
  checkListenPort,
  checkTargets,
  checkDataSourceNames,
  checkGraphqlSchema,
  checkGraphqlVariables,
  checkUpstreamAuth,
];

export const validateClassic: Check = definition => checks.flatMap(law => law(definition));
