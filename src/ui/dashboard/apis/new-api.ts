/** Definition of a new API in the OpenAPI format, from what the form asks for. */
export interface ApiDraft {
  readonly name: string;
  readonly upstream: string;
  readonly listenPath: string;
  readonly isProtected: boolean;
  /** Gateways with one of them load the API; without any all do. */
  readonly tags?: readonly string[];
}

const schemeName = 'authToken';

export function buildDocument({ name, upstream, listenPath, isProtected, tags = [] }: ApiDraft) {
  const scheme = { [schemeName]: { type: 'apiKey', in: 'header', name: 'Authorization' } };
  const authentication = {
    enabled: true,
    securitySchemes: { [schemeName]: { enabled: true, header: { enabled: true, name: 'Authorization' } } },
  };
  return {
    openapi: '3.0.3',
    info: { title: name, version: '1.0.0' },
    paths: {},
    ...(isProtected ? { components: { securitySchemes: scheme }, security: [{ [schemeName]: [] }] } : {}),
    'x-gw-api-gateway': {
      info: { name, state: { active: true } },
      server: {
        listenPath: { value: listenPath, strip: true },
        ...(isProtected ? { authentication } : {}),
        ...(tags.length > 0 ? { gatewayTags: { enabled: true, tags } } : {}),
      },
      upstream: { url: upstream },
      middleware: { global: { trafficLogs: { enabled: true }, contextVariables: { enabled: true } } },
    },
  };
}

/** Part of a new GraphQL API beside its fields; a supergraph gets its schema from subgraphs. */
export interface GraphDraft {
  readonly mode: 'proxyOnly' | 'executionEngine' | 'supergraph';
  readonly schema: string;
}

/** Definition of a GraphQL API, which only the classic format can describe. */
export const buildGraphDefinition = (
  { name, upstream, listenPath, isProtected, tags = [] }: ApiDraft,
  { mode, schema }: GraphDraft,
) => ({
  name,
  active: true,
  use_keyless: !isProtected,
  use_standard_auth: isProtected,
  auth: { auth_header_name: 'Authorization' },
  proxy: { listen_path: listenPath, target_url: upstream, strip_listen_path: true },
  graphql: { enabled: true, execution_mode: mode, version: '2', schema },
  ...(tags.length > 0 ? { tags } : {}),
});

/** Listen path of a name: `Orders v2` becomes `/orders-v2/`. */
export const toListenPath = (name: string): string => {
  const words =
    name
      .toLowerCase()
      .normalize('NFKD')
      .match(/[a-z0-9]+/g) ?? [];
  return words.length === 0 ? '' : `/${words.join('-')}/`;
};

export const isUpstreamUrl = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && ['http:', 'https:'].includes(url.protocol) && url.hostname !== '';
};
