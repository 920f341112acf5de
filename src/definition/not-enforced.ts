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
    why: 'Marks an MCP proxy; the operations of MCP proxies set it. A classic API that sets it is not served (503).',
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
  { facet: 'custom', fields: ['label'], why: namesMethod },
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
  {
    facet: 'graphql',
    fields: ['version', 'lastSchemaUpdate'],
    why: 'Describes the schema and the engine it was written for; has no effect in the gateway.',
  },
  {
    facet: 'graphql',
    fields: ['schemaUpdateSeconds'],
    why: 'Interval of updates of the definition by the management side; has no effect on traffic by itself.',
  },
  {
    facet: 'graphql',
    fields: ['authHeaders'],
    why: 'Headers for introspection of the upstream (`POST /api/apis/{apiId}/graphql/schema`); have no effect on traffic.',
  },
  {
    facet: 'graphql',
    fields: ['supergraphUpdatedAt'],
    why: 'Time at which the subgraphs were composed elsewhere; has no effect in the gateway.',
  },
  ...['transformRequestHeaders', 'transformResponseHeaders'].map(name => ({
    facet: `endpoints.${name}`,
    fields: ['actOn'],
    why: 'Stored for older tools; has no effect.',
  })),
];

export const isNotEnforced = (row: { readonly facet: string; readonly field: string }): boolean =>
  notEnforced.some(({ facet, fields }) => facet === row.facet && (fields?.includes(row.field) ?? true));
