import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import type { Document } from '../documents.ts';

/** Plugins of Kong as members of a definition. */

export interface KongPlugin {
  readonly name: string;
  readonly config: JsonObject;
  readonly place: string;
}

/** Rule for the consumers that may call an API. */
export interface AccessRule {
  readonly auth: 'none' | 'key' | 'basic';
  readonly allowedGroups: readonly string[] | undefined;
  readonly deniedGroups: readonly string[];
}

/** API that was planned, with the rule for its consumers. */
export interface KongApi {
  readonly definition: Document;
  readonly access: AccessRule;
}

export interface AppliedPlugins {
  readonly members: Document;
  readonly version: Document;
  readonly access: AccessRule;
  readonly notes: readonly string[];
  readonly leftOut: readonly { readonly what: string; readonly reason: string }[];
  /** Reason for which the API cannot be moved: without the plugin it would be less protected. */
  readonly blocked: string | undefined;
}

const readTexts = (value: unknown) => arrayOrEmpty(value).filter((it): it is string => typeof it === 'string');

export const readPlugins = (plugins: readonly JsonObject[], place: string): KongPlugin[] =>
  plugins
    .filter(({ enabled, name }) => enabled !== false && typeof name === 'string')
    .map(({ name, config }) => ({ name: String(name), config: objectOrEmpty(config), place }));

interface Effects {
  members: JsonObject;
  version: JsonObject;
  access: AccessRule;
  notes: string[];
  leftOut: { what: string; reason: string }[];
  blocked: string | undefined;
}

/** Plugins without which an API admits more requests than before. */
const guards = new Set(
  (
    'oauth2 oauth2-introspection jwt jwt-signer hmac-auth ldap-auth ldap-auth-advanced openid-connect mtls-auth ' +
    'vault-auth opa bot-detection request-validator request-termination key-auth-enc saml header-cert-auth ' +
    'pre-function post-function serverless-functions'
  ).split(' '),
);

/** Applies the plugins of one route. The last of one name counts: the closest to the route. */
export function applyPlugins(plugins: readonly KongPlugin[]): AppliedPlugins {
  const effective = new Map(plugins.map(plugin => [plugin.name, plugin]));
  const effects: Effects = {
    members: {},
    version: {},
    access: { auth: 'none', allowedGroups: undefined, deniedGroups: [] },
    notes: [],
    leftOut: [],
    blocked: undefined,
  };
  for (const { name, config } of effective.values()) {
    const apply = Object.hasOwn(appliers, name) ? appliers[name] : undefined;
    if (apply) apply(effects, config);
    else if (guards.has(name))
      effects.blocked ??= `the plugin ${name} cannot be expressed, and the API would be less protected`;
    else effects.leftOut.push({ what: `plugin ${name}`, reason: 'it has no equivalent' });
  }
  const isGrouped = effects.access.allowedGroups !== undefined || effects.access.deniedGroups.length > 0;
  if (isGrouped && effects.access.auth === 'none')
    effects.blocked ??= 'the plugin acl needs an authentication that is moved';
  return effects;
}

type Apply = (effects: Effects, config: JsonObject) => void;

const appliers: Readonly<Record<string, Apply>> = {
  'key-auth': (effects, config) => {
    const [name = 'apikey', ...others] = readTexts(config.key_names);
    effects.access = { ...effects.access, auth: 'key' };
    const token = {
      auth_header_name: name,
      disable_header: config.key_in_header === false,
      use_param: config.key_in_query !== false,
      param_name: name,
    };
    Object.assign(effects.members, { use_standard_auth: true, auth_configs: { authToken: token } });
    if (config.hide_credentials === true) effects.members.strip_auth_data = true;
    for (const other of others) effects.leftOut.push({ what: `key-auth name ${other}`, reason: 'a key has one name' });
    if (config.anonymous) effects.blocked ??= 'key-auth admits anonymous requests, which cannot be expressed';
    if (config.key_in_body === true)
      effects.leftOut.push({ what: 'key-auth key_in_body', reason: 'it has no equivalent' });
  },
  'basic-auth': (effects, config) => {
    effects.access = { ...effects.access, auth: 'basic' };
    Object.assign(effects.members, { use_basic_auth: true });
    if (config.hide_credentials === true) effects.members.strip_auth_data = true;
    if (config.anonymous) effects.blocked ??= 'basic-auth admits anonymous requests, which cannot be expressed';
  },
  acl: (effects, config) => {
    const allowed = config.allow ?? config.whitelist;
    const denied = readTexts(config.deny ?? config.blacklist);
    effects.access = {
      ...effects.access,
      allowedGroups: Array.isArray(allowed) ? readTexts(allowed) : undefined,
      deniedGroups: denied,
    };
  },
  'rate-limiting': applyRateLimit,
  'rate-limiting-advanced': (effects, config) => {
    const [limit] = arrayOrEmpty(config.limit);
    const [window] = arrayOrEmpty(config.window_size);
    if (typeof limit === 'number' && typeof window === 'number') setRate(effects, limit, window);
  },
  cors: (effects, config) => {
    const readNames = (name: string, fallback: readonly string[] = []) => {
      const texts = readTexts(config[name]);
      return texts.length > 0 ? texts : fallback;
    };
    effects.members.CORS = {
      enable: true,
      allowed_origins: readNames('origins', ['*']),
      allowed_methods: readNames('methods', ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE', 'OPTIONS']),
      allowed_headers: readNames('headers'),
      exposed_headers: readNames('exposed_headers'),
      allow_credentials: config.credentials === true,
      max_age: typeof config.max_age === 'number' ? config.max_age : 0,
      options_passthrough: config.preflight_continue === true,
    };
  },
  'ip-restriction': (effects, config) => {
    const allowed = readTexts(config.allow ?? config.whitelist);
    const denied = readTexts(config.deny ?? config.blacklist);
    if (allowed.length > 0) Object.assign(effects.members, { enable_ip_whitelisting: true, allowed_ips: allowed });
    if (denied.length > 0) Object.assign(effects.members, { enable_ip_blacklisting: true, blacklisted_ips: denied });
  },
  'request-size-limiting': (effects, config) => {
    const size = typeof config.allowed_payload_size === 'number' ? config.allowed_payload_size : 128;
    const unit =
      { bytes: 1, kilobytes: 1024, megabytes: 1_048_576 }[String(config.size_unit ?? 'megabytes')] ?? 1_048_576;
    effects.version.global_size_limit = size * unit;
  },
  'request-transformer': (effects, config) => applyHeaders(effects, config, 'request-transformer', 'global_headers'),
  'response-transformer': (effects, config) =>
    applyHeaders(effects, config, 'response-transformer', 'global_response_headers'),
  'proxy-cache': (effects, config) => {
    const ttl = typeof config.cache_ttl === 'number' ? config.cache_ttl : 300;
    effects.members.cache_options = {
      enable_cache: true,
      cache_timeout: ttl,
      cache_all_safe_requests: true,
      cache_response_codes: arrayOrEmpty(config.response_code).filter(it => typeof it === 'number'),
      cache_by_headers: readTexts(config.vary_headers),
    };
  },
};

const windows = { second: 1, minute: 60, hour: 3600, day: 86_400, month: 2_592_000, year: 31_536_000 };

/** The shortest window counts; the others are listed. */
function applyRateLimit(effects: Effects, config: JsonObject): void {
  const [first, ...others] = Object.entries(windows).flatMap(([name, seconds]) =>
    typeof config[name] === 'number' ? [{ name, seconds, limit: config[name] }] : [],
  );
  if (!first) return;
  setRate(effects, first.limit, first.seconds);
  for (const { name, limit } of others)
    effects.leftOut.push({ what: `rate-limiting ${limit} per ${name}`, reason: 'an API has one rate limit' });
}

function setRate(effects: Effects, rate: number, per: number): void {
  effects.members.global_rate_limit = { rate, per };
  effects.notes.push('the rate limit counts all requests of the API, not those of a consumer or address');
}

/** Adds and removes headers; other transformations are listed. */
function applyHeaders(effects: Effects, config: JsonObject, plugin: string, member: string): void {
  const added: Record<string, string> = {};
  for (const action of ['add', 'append', 'replace'])
    for (const pair of readTexts(objectOrEmpty(config[action]).headers)) {
      const colon = pair.indexOf(':');
      if (colon > 0 && !pair.includes('$(')) added[pair.slice(0, colon).trim()] = pair.slice(colon + 1).trim();
      else effects.leftOut.push({ what: `${plugin} ${action}`, reason: 'a header with a template or without a value' });
    }
  const removed = readTexts(objectOrEmpty(config.remove).headers);
  if (Object.keys(added).length > 0) effects.version[member] = added;
  if (removed.length > 0) effects.version[`${member}_remove`] = removed;
  for (const [action, parts] of Object.entries(config))
    if (isObject(parts))
      for (const [part, list] of Object.entries(parts))
        if ((part !== 'headers' || action === 'rename') && arrayOrEmpty(list).length > 0)
          effects.leftOut.push({ what: `${plugin} ${action}.${part}`, reason: 'only headers are added and removed' });
  if (config.http_method) effects.leftOut.push({ what: `${plugin} http_method`, reason: 'it has no equivalent' });
}
