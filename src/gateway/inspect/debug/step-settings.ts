import type { Endpoints } from '#definition/endpoints/endpoint-lists.ts';
import type { Model, VersionModel } from '#definition/model.ts';

type Part = Exclude<keyof Model, 'form' | 'versions' | 'authMethods' | 'document' | 'streams'>;
type VersionPart = Exclude<keyof VersionModel, 'key' | 'endpoints'>;

interface Parts {
  readonly api?: readonly Part[];
  readonly version?: readonly VersionPart[];
  readonly lists?: readonly (keyof Endpoints)[];
}

/** Parts of a definition that configure each step. */
export const settingsByStep: Readonly<Record<string, Parts>> = {
  'cors-headers': { api: ['cors'] },
  cors: { api: ['cors'] },
  tracking: { api: ['trafficLogs'], lists: ['trackEndpoint', 'doNotTrackEndpoint'] },
  'endpoint-access': { lists: ['ignoreAuthentication', 'block', 'allow', 'internal'] },
  'ip-access': { api: ['ipAccess'] },
  'client-certificates': { api: ['clientCertificates'] },
  'size-limit': { version: ['requestSizeLimit'], lists: ['requestSizeLimit'] },
  'context-variables': { api: ['contextVariables'] },
  oauth: { api: ['oauth'] },
  'external-oauth': { api: ['externalOAuth'] },
  basic: { api: ['basic'] },
  hmac: { api: ['hmac'] },
  jwt: { api: ['jwt'] },
  oidc: { api: ['oidc'] },
  token: { api: ['token'] },
  tracing: { api: ['detail'] },
  alternatives: { api: ['authentication'] },
  bearer: { api: ['oauth2'] },
  'scope-check': { api: ['oauth2'], lists: ['scopeCheck'] },
  'token-exchange': { api: ['oauth2'], lists: ['exchange'] },
  'strip-auth': { api: ['authentication'] },
  'key-limits': { api: ['skips'] },
  'api-limits': { api: ['rateLimit'], lists: ['rateLimit'] },
  'upstream-auth': { api: ['upstreamAuth', 'upstreamClientCredentials', 'upstreamPassword'] },
  'validate-json': { lists: ['validateJson'] },
  'validate-request': { lists: ['validateRequest'] },
  'transform-request-body': { lists: ['transformRequestBody'] },
  'transform-request-jq': { lists: ['transformJq'] },
  'request-headers': { version: ['requestHeaders'], lists: ['transformRequestHeaders'] },
  'url-rewrite': { lists: ['urlRewrite'] },
  'method-transform': { lists: ['transformRequestMethod'] },
  'mock-response': { lists: ['mockResponse'] },
  'transform-response-body': { lists: ['transformResponseBody'] },
  'transform-response-jq': { lists: ['transformJqResponse'] },
  'response-headers': { version: ['responseHeaders'], lists: ['transformResponseHeaders'] },
  'response-processors': { api: ['responseProcessors'] },
  'error-overrides': { api: ['errorOverrides'] },
  cache: { api: ['cache'], lists: ['cache'] },
  'request-signing': { api: ['requestSigning'] },
  'enforced-timeout': { version: ['timeout'], lists: ['enforceTimeout'] },
  discovery: { api: ['serviceDiscovery'] },
  'circuit-breaker': { lists: ['circuitBreaker'] },
};

/** Longer settings are truncated: a trace line is bounded. */
const maxSettingsCharacters = 1500;

/** A step's settings with secrets masked and unset members removed; undefined without any. */
export function describeStepSettings(step: string, model: Model, version: VersionModel | undefined): unknown {
  const parts = Object.hasOwn(settingsByStep, step) ? settingsByStep[step]! : {};
  const entries: [string, unknown][] = [
    ...(parts.api ?? []).map((name): [string, unknown] => [name, model[name]]),
    ...(version ? (parts.version ?? []).map((name): [string, unknown] => [name, version[name]]) : []),
    ...(version ? (parts.lists ?? []).map((name): [string, unknown] => [name, version.endpoints[name]]) : []),
  ];
  const settings = Object.fromEntries(
    entries.map(([name, value]) => [name, mask(value)]).filter(([, it]) => !isUnset(it)),
  );
  if (Object.keys(settings).length === 0) return undefined;
  const text = JSON.stringify(settings);
  return text.length <= maxSettingsCharacters ? settings : `${text.slice(0, maxSettingsCharacters)}…`;
}

const isUnset = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  value === 0 ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** Members that hold secrets. `source` and `keysets` may hold a key instead of a URL. */
const secretNames = /secret|password|passphrase|private|^source$|^keysets$/i;
/** Members whose values may be credentials, whatever the header name. */
const secretValueNames = /^(?:add|add_headers|headers|extrametadata|customparams)$/i;

function mask(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, inner]) => [name, maskMember(name, inner)] as const);
  return Object.fromEntries(members.filter(([, inner]) => !isUnset(inner)));
}

function maskMember(name: string, value: unknown): unknown {
  if (isUnset(value)) return undefined;
  if (secretNames.test(name)) return '***';
  if (secretValueNames.test(name) && typeof value === 'object' && !Array.isArray(value))
    return Object.fromEntries(Object.keys(value!).map(header => [header, '***']));
  return mask(value);
}
