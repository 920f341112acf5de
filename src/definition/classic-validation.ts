import { isIP } from 'node:net';
import type { ClassicDefinition } from './classic.ts';
import { features } from './definition.ts';
import { normalizeClassic } from './model.ts';
import { findPathTemplateError } from './path-template.ts';
import type { Fault } from './validation-error.ts';

/** What a classic definition must keep to beyond the shape of its members. */
type Bag = Record<string, unknown>;
type Check = (definition: ClassicDefinition) => Fault[];

const bag = (value: unknown): Bag => (typeof value === 'object' && value !== null ? (value as Bag) : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const authMethodSwitches: readonly (readonly [mode: string, switches: readonly string[]])[] = [
  ['authToken', ['use_standard_auth']],
  ['jwt', ['enable_jwt']],
  ['hmac', ['enable_signature_checking']],
  ['oauth', ['use_oauth2']],
  ['oidc', ['use_openid']],
  ['coprocess', ['custom_plugin_auth_enabled', 'use_go_plugin_auth', 'enable_coprocess_auth']],
];

const checkAuthSources: Check = given => {
  const definition = normalizeClassic(given);
  return authMethodSwitches.flatMap(([mode, switches]) => {
    const on = !definition.use_keyless && switches.some(name => definition[name] === true);
    const { disable_header, use_param, use_cookie } = bag(bag(definition.auth_configs)[mode]);
    if (!on || disable_header !== true || use_param === true || use_cookie === true) return [];
    const message = `all auth sources are disabled for ${mode}, at least one of header/cookie/query must be enabled`;
    return [{ path: `auth_configs.${mode}`, message }];
  });
};

/** An address, or a range in CIDR notation. */
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
      : list(definition[name!]).flatMap((entry, at) =>
          isAddressRange(String(entry))
            ? []
            : [{ path: `${name}[${at}]`, message: `invalid IP/CIDR ${JSON.stringify(entry)}` }],
        ),
  );

const checkListenPath: Check = ({ proxy, domain }) => [
  ...(/\s/.test(proxy?.listen_path ?? '') ? [{ path: 'proxy.listen_path', message: 'must not hold spaces' }] : []),
  ...checkPathTemplate('proxy.listen_path', proxy?.listen_path, '/'),
  ...checkPathTemplate('domain', domain, ''),
  ...checkHostPort('domain', domain),
];

/** Requests are matched by their host without its port, so that a route with a port in its host answers none. */
export const checkHostPort = (path: string, host: unknown): Fault[] =>
  /:\d*$/.test(String(host ?? '').replaceAll(/\{[^}]*\}+/g, 'x'))
    ? [{ path, message: 'must not hold a port: a port of its own is that of the listener' }]
    : [];

const methodName = /^(?!(?:any|all)$)[A-Za-z]+(?:-[A-Za-z]+)*$/i;

const listNames = Object.values(features).flatMap(({ classic }) => classic ?? []);

/** An entry that fits no request: in a block list it would leave open what it names. */
const checkEndpointLists: Check = ({ version_data }) =>
  Object.entries(bag(bag(version_data).versions)).flatMap(([version, settings]) =>
    listNames.flatMap(name =>
      list(bag(bag(settings).extended_paths)[name]).flatMap((entry, at) =>
        typeof entry === 'string'
          ? []
          : checkEndpointEntry(`version_data.versions.${version}.extended_paths.${name}[${at}]`, bag(entry)),
      ),
    ),
  );

function checkEndpointEntry(place: string, { path, method, method_actions }: Bag): Fault[] {
  const named = Object.keys(bag(method_actions)).map(name => [`${place}.method_actions`, name] as const);
  const given = typeof method === 'string' && method !== '' ? [[`${place}.method`, method] as const] : [];
  const wrong = [...given, ...named].filter(([, name]) => !methodName.test(name));
  return [
    ...(path === undefined || path === null ? [{ path: `${place}.path`, message: 'is required' }] : []),
    ...wrong.map(([where, name]) => ({
      path: where,
      message: `${JSON.stringify(name)} is not the name of a method; none stands for every method`,
    })),
  ];
}

/** A place with parameters in it that calls cannot be compared with. */
export function checkPathTemplate(path: string, text: unknown, divider: '/' | ''): Fault[] {
  const message = findPathTemplateError(String(text ?? ''), divider);
  return message === undefined ? [] : [{ path, message }];
}

const checkListenPort: Check = ({ protocol, listen_port }) =>
  (protocol === 'tcp' || protocol === 'tls') && !listen_port
    ? [{ path: 'listen_port', message: `is needed by a ${protocol} service` }]
    : [];

const checkTargets: Check = ({ proxy }) => {
  const { enable_load_balancing, target_list, service_discovery } = bag(proxy);
  const discovered = bag(service_discovery).use_discovery_service === true;
  return enable_load_balancing === true && !discovered && list(target_list).length === 0
    ? [{ path: 'proxy.target_list', message: 'must name at least one target when load balancing is on' }]
    : [];
};

const checkDataSourceNames: Check = ({ graphql }) => {
  const seen = new Set<string>();
  return list(bag(bag(graphql).engine).data_sources).flatMap((source, at) => {
    const name = String(bag(source).name ?? '')
      .trim()
      .toLowerCase();
    if (name === '' || !seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [{ path: `graphql.engine.data_sources[${at}].name`, message: 'is the name of another data source' }];
  });
};

const checkUpstreamAuth: Check = ({ upstream_auth }) => {
  const { enabled, basic_auth, oauth } = bag(upstream_auth);
  return enabled === true && bag(basic_auth).enabled === true && bag(oauth).enabled === true
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
  checkUpstreamAuth,
];

export const validateClassic: Check = definition => checks.flatMap(law => law(definition));
