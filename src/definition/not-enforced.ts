/**
 * Fields that a definition may set and the gateway does not enforce, with the reason. Every field is either here or has
 * a test of its effect; enforcing one removes it here.
 */
export interface NotEnforced {
  /** Name in the definition reference; endpoint features are `endpoints.<name>`. */
  readonly facet: string;
  /** Absent: all fields of the facet. */
  readonly fields?: readonly string[];
  readonly why: string;
}

const describeUnsupported = (what: string) => `Not supported: ${what}. Requests to an API that enables it get 503.`;
const namesMethod = 'Names an auth method in the OpenAPI format; has no effect in the gateway.';
const informs = 'Describes the API; has no effect in the gateway.';

export const notEnforced: readonly NotEnforced[] = [
  { facet: 'identity', fields: ['isOas'], why: informs },
  {
    facet: 'identity',
    fields: ['applicationProtocol', 'jsonRpcVersion'],
    why: describeUnsupported('protocols inside HTTP'),
  },
  {
    facet: 'authentication',
    fields: ['requirements'],
    why: 'Stored without effect in the classic format: alternatives need the OpenAPI format.',
  },
  ...['token', 'jwt', 'basic', 'oauth', 'externalOAuth', 'hmac', 'oidc'].map(facet => ({
    facet,
    fields: ['label'],
    why: namesMethod,
  })),
  { facet: 'olderAuth', fields: ['name'], why: namesMethod },
  { facet: 'custom', why: describeUnsupported('authentication by plugin') },
  { facet: 'idExtractor', why: 'Configures how plugins identify a client; there are no plugins.' },
  { facet: 'authProvider', why: describeUnsupported('keys in other stores') },
  { facet: 'sessionProvider', why: describeUnsupported('sessions in other stores') },
  {
    facet: 'uptimeDiscovery',
    fields: ['portDataPath', 'targetPath'],
    why: 'Lists of tests contain complete URLs; nothing is appended to them.',
  },
  {
    facet: 'upstreamClientCredentials',
    fields: ['username', 'password'],
    why: 'The client credentials grant has no user; only the password grant has one.',
  },
  { facet: 'pluginConfig', fields: ['bundleEnabled', 'bundlePath'], why: describeUnsupported('bundles of plugins') },
  {
    facet: 'pluginConfig',
    fields: ['driver', 'dataEnabled', 'data'],
    why: 'Applies to plugins only; there are no plugins.',
  },
  { facet: 'plugins', why: describeUnsupported('plugins') },
  {
    facet: 'trafficLogs',
    fields: [
      'plugins',
      'plugins[].enabled',
      'plugins[].functionName',
      'plugins[].path',
      'pluginEnabled',
      'pluginFunction',
      'pluginPath',
    ],
    why: describeUnsupported('plugins for analytics records'),
  },
  { facet: 'graphql', why: describeUnsupported('GraphQL') },
  { facet: 'endpoints.persistGraphql', why: describeUnsupported('GraphQL') },
  ...['transformRequestHeaders', 'transformResponseHeaders'].map(name => ({
    facet: `endpoints.${name}`,
    fields: ['actOn'],
    why: 'Stored for older tools; has no effect.',
  })),
  { facet: 'endpoints.virtualEndpoint', why: describeUnsupported('scripts that generate responses') },
  { facet: 'endpoints.endpointPlugin', why: describeUnsupported('plugins') },
];

export const isNotEnforced = (row: { readonly facet: string; readonly field: string }): boolean =>
  notEnforced.some(({ facet, fields }) => facet === row.facet && (fields?.includes(row.field) ?? true));
