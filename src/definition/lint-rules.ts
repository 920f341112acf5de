import { extensionName } from './document-members.ts';
import type { Model } from './model.ts';

/** Location of a finding, in each format; an OpenAPI path is one below the extension of the gateway. */
interface LintPlace {
  readonly classic: string;
  readonly oas: string;
}

/** Rule about definitions that are valid and probably not meant so. */
export interface LintRule {
  readonly name: string;
  readonly level: 'warning' | 'info';
  readonly place: LintPlace;
  readonly about: string;
  /** One message for each finding. */
  find(model: Model): readonly string[];
}

export interface LintWarning {
  readonly rule: string;
  readonly level: LintRule['level'];
  readonly path: string;
  readonly message: string;
}

const report = (isFound: boolean, message: string): string[] => (isFound ? [message] : []);

const isKeyless = ({ authMethods, clientCertificates }: Model) =>
  authMethods.length === 0 && !clientCertificates.enabled;
const allowsAnyOrigin = ({ cors }: Model) => cors.allowedOrigins.length === 0 || cors.allowedOrigins.includes('*');
const isPlaintext = (url: string) => /^\s*(?:http|h2c|ws|tcp):\/\//i.test(url);
const oldTlsVersions: readonly string[] = ['1.0', '1.1'];
const plaintextMessage = 'The connection to the upstream is not encrypted: use https';

/** All lint rules; `docs/reference/lint.md` is generated from them. */
export const lintRules: readonly LintRule[] = [
  {
    name: 'api_inactive',
    level: 'info',
    place: { classic: 'active', oas: 'info.state.active' },
    about: 'The API is stored and not served.',
    find: ({ identity }) => report(!identity.active, 'The API is not served until it is active'),
  },
  {
    name: 'auth_none',
    level: 'warning',
    place: { classic: 'use_keyless', oas: 'server.authentication.enabled' },
    about: 'The API has neither an auth method nor client certificates.',
    find: model =>
      report(isKeyless(model) && !model.identity.internal, 'Any client can call the API: it has no authentication'),
  },
  {
    name: 'auth_skipped',
    level: 'info',
    place: { classic: 'version_data.versions', oas: 'middleware.operations' },
    about: 'Endpoints of an API with authentication are called without it.',
    find(model) {
      const open = model.versions.flatMap(({ endpoints }) => endpoints.ignoreAuthentication).filter(it => it.enabled);
      return report(open.length > 0 && !isKeyless(model), `${open.length} endpoints are called without authentication`);
    },
  },
  {
    name: 'cors_credentials_without_origins',
    level: 'warning',
    place: { classic: 'CORS.allowed_origins', oas: 'middleware.global.cors.allowedOrigins' },
    about: 'CORS allows credentials and any origin: browsers block responses to requests with credentials.',
    find: model =>
      report(
        model.cors.enabled && model.cors.allowCredentials && allowsAnyOrigin(model),
        'Credentials need a list of origins: browsers block responses where any origin is allowed',
      ),
  },
  {
    name: 'cors_any_origin',
    level: 'info',
    place: { classic: 'CORS.allowed_origins', oas: 'middleware.global.cors.allowedOrigins' },
    about: 'CORS allows the pages of any site.',
    find: model =>
      report(
        model.cors.enabled && !model.cors.allowCredentials && allowsAnyOrigin(model),
        'Pages of any site can read responses of the API',
      ),
  },
  {
    name: 'credential_in_query',
    level: 'warning',
    place: { classic: 'auth_configs', oas: 'server.authentication.securitySchemes' },
    about: 'A key or token is accepted in the query, which logs and histories store.',
    find: ({ authMethods, ...model }) =>
      (['token', 'jwt', 'oauth'] as const)
        .filter(method => authMethods.includes(method) && model[method].queryEnabled)
        .map(method => `${method} accepts credentials in the URL, which logs and histories store`),
  },
  {
    name: 'listen_path_root',
    level: 'info',
    place: { classic: 'proxy.listen_path', oas: 'server.listenPath.value' },
    about: 'The API receives every request that no other API matches.',
    find: ({ listen, identity }) =>
      report(
        listen.path.trim() === '/' && !identity.internal,
        'The API receives every request that no other API matches',
      ),
  },
  {
    name: 'limits_none',
    level: 'warning',
    place: { classic: 'global_rate_limit', oas: 'upstream.rateLimit' },
    about: 'No rate limit applies: neither one of the API nor those of keys.',
    find(model) {
      const { enabled, rate } = model.rateLimit;
      const isLimited = enabled && rate > 0;
      const hasKeyLimits = !isKeyless(model) && !(model.skips.rateLimit && model.skips.quota);
      return report(
        !isLimited && !hasKeyLimits && !model.identity.internal,
        'Nothing limits the requests of a client: set a rate limit',
      );
    },
  },
  {
    name: 'recording_detailed',
    level: 'info',
    place: { classic: 'enable_detailed_recording', oas: 'server.detailedActivityLogs.enabled' },
    about: 'Analytics records hold requests and responses, with what they contain.',
    find: ({ detail }) => report(detail.recording, 'Analytics records hold whole requests and responses'),
  },
  {
    name: 'recording_off',
    level: 'info',
    place: { classic: 'do_not_track', oas: 'middleware.global.trafficLogs.enabled' },
    about: 'The API has no analytics records.',
    find: ({ trafficLogs }) => report(!trafficLogs.enabled, 'Requests to the API leave no analytics records'),
  },
  {
    name: 'ip_access_empty',
    level: 'warning',
    place: { classic: 'allowed_ips', oas: 'server.ipAccessControl' },
    about: 'Access control by client address is on, with two empty lists.',
    find: ({ ipAccess: { enabled, allow, block } }) =>
      report(enabled && allow.length === 0 && block.length === 0, 'Access control by address has two empty lists'),
  },
  {
    name: 'upstream_plaintext',
    level: 'warning',
    place: { classic: 'proxy.target_url', oas: 'upstream.url' },
    about: 'The gateway calls the upstream without TLS.',
    find: ({ upstream, loadBalancing }) =>
      report(!loadBalancing.enabled && isPlaintext(upstream.url), plaintextMessage),
  },
  {
    name: 'target_plaintext',
    level: 'warning',
    place: { classic: 'proxy.target_list', oas: 'upstream.loadBalancing.targets' },
    about: 'The gateway calls a target of the load balancing without TLS.',
    find: ({ loadBalancing: { enabled, targets } }) =>
      report(enabled && targets.some(({ url }) => isPlaintext(url)), plaintextMessage),
  },
  {
    name: 'upstream_unverified',
    level: 'warning',
    place: { classic: 'proxy.transport.ssl_insecure_skip_verify', oas: 'upstream.tlsTransport.insecureSkipVerify' },
    about: 'Certificates of the upstream are not verified.',
    find: ({ transport }) =>
      report(transport.insecureSkipVerify, 'Any certificate of the upstream is accepted: for development only'),
  },
  {
    name: 'upstream_tls_old',
    level: 'warning',
    place: { classic: 'proxy.transport.ssl_min_version', oas: 'upstream.tlsTransport.minVersion' },
    about: 'TLS 1.0 or 1.1, which RFC 8996 deprecates, is accepted towards the upstream.',
    find: ({ transport }) =>
      report(oldTlsVersions.includes(transport.minVersion), `TLS ${transport.minVersion} is deprecated (RFC 8996)`),
  },
];

/** Runs every rule over the model of a valid definition. */
export function lintModel(model: Model): LintWarning[] {
  const isClassic = model.format === 'classic';
  return lintRules.flatMap(rule =>
    rule.find(model).map(message => ({
      rule: rule.name,
      level: rule.level,
      path: isClassic ? rule.place.classic : `${extensionName}.${rule.place.oas}`,
      message,
    })),
  );
}
