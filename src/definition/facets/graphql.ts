import { facet } from '../facet.ts';
import { anything, choice, flag, text, textMap, texts, timestamp } from '../rules.ts';

const headerList = {
  list: {
    key: { rule: text, about: 'Header name.' },
    value: { rule: text, secret: 'all', about: 'Header value.' },
  },
} as const;
const subscriptions = choice('graphql-ws', 'graphql-transport-ws', 'sse');

export const graphql = facet({
  name: 'graphql',
  about: 'Makes the API a GraphQL one: a checked proxy, a graph over data sources, a subgraph or a supergraph.',
  classic: 'graphql',
  oas: null,
  // The engine reads the variables of its own configuration.
  reads: 'nothing',
  fields: {
    enabled: { rule: flag, about: 'Every call is GraphQL.' },
    executionMode: {
      rule: choice('proxyOnly', 'executionEngine', 'subgraph', 'supergraph'),
      classic: 'execution_mode',
      about: 'What answers; empty for proxyOnly.',
    },
    version: { rule: text, about: 'The engine the configuration was written for.' },
    schema: { rule: text, about: 'The schema calls are checked against.' },
    lastSchemaUpdate: { rule: timestamp, classic: 'last_schema_update', about: 'When the schema last changed.' },
    introspectionDisabled: {
      rule: flag,
      classic: 'introspection.disabled',
      about: 'Refuses questions about the schema.',
    },
    playgroundEnabled: { rule: flag, classic: 'playground.enabled', about: 'Serves a page to try queries in.' },
    playgroundPath: { rule: text, classic: 'playground.path', about: 'Where, below the listen path.' },
    subgraphSdl: { rule: text, classic: 'subgraph.sdl', about: 'The schema this API adds to a supergraph.' },
    dataSources: {
      list: {
        kind: { rule: text, about: 'REST, GraphQL or Kafka.' },
        name: { rule: text, about: 'A name no other source of the API has.' },
        internal: { rule: flag, about: 'The source is another API of this gateway.' },
        rootFields: {
          list: {
            type: { rule: text, about: 'The type.' },
            fields: { rule: texts, about: 'Its fields that this source answers.' },
          },
          classic: 'root_fields',
          about: 'What the source answers.',
        },
        config: { rule: anything, secret: 'named', about: 'How it is asked; depends on the kind.' },
      },
      classic: 'engine.data_sources',
      about: 'Where the values of fields come from.',
    },
    fieldConfigs: {
      list: {
        typeName: { rule: text, classic: 'type_name', about: 'The type.' },
        fieldName: { rule: text, classic: 'field_name', about: 'The field.' },
        disableDefaultMapping: {
          rule: flag,
          classic: 'disable_default_mapping',
          about: 'The reply itself is the value, not its member of that name.',
        },
        path: { rule: texts, about: 'Where in the reply the value is.' },
      },
      classic: 'engine.field_configs',
      about: 'How replies become field values.',
    },
    engineHeaders: { ...headerList, classic: 'engine.global_headers', about: 'Headers for every data source.' },
    authHeaders: {
      rule: textMap,
      secret: 'all',
      classic: 'proxy.auth_headers',
      about: 'Headers for fetching the upstream schema.',
    },
    requestHeaders: {
      rule: textMap,
      secret: 'all',
      classic: 'proxy.request_headers',
      about: 'Headers for every upstream call.',
    },
    requestHeadersRewrite: {
      map: {
        value: { rule: text, secret: 'all', about: 'The value forced.' },
        remove: { rule: flag, about: 'Drops the header when it has another value.' },
      },
      classic: 'proxy.request_headers_rewrite',
      about: 'Header name to what happens to it last.',
    },
    useImmutableHeaders: {
      rule: flag,
      classic: 'proxy.features.use_immutable_headers',
      about: 'A header of the caller wins over one set here.',
    },
    subscriptionType: {
      rule: subscriptions,
      classic: 'proxy.subscription_type',
      about: 'How the upstream sends events.',
    },
    sseUsePost: { rule: flag, classic: 'proxy.sse_use_post', about: 'Asks for server-sent events with POST.' },
    onErrorForwarding: {
      rule: flag,
      classic: 'proxy.use_response_extensions.on_error_forwarding',
      about: 'Shows the upstream’s error body in the extensions of the answer.',
    },
    mergedSdl: { rule: text, classic: 'supergraph.merged_sdl', about: 'The schema of the whole supergraph.' },
    disableQueryBatching: {
      rule: flag,
      classic: 'supergraph.disable_query_batching',
      about: 'Asks subgraphs one question at a time.',
    },
    supergraphHeaders: {
      rule: textMap,
      secret: 'all',
      classic: 'supergraph.global_headers',
      about: 'Headers for every subgraph.',
    },
    supergraphUpdatedAt: { rule: timestamp, classic: 'supergraph.updated_at', about: 'When it was last composed.' },
    subgraphs: {
      list: {
        apiId: { rule: text, classic: 'api_id', about: 'The API that is the subgraph.' },
        name: { rule: text, about: 'Its name.' },
        url: { rule: text, about: 'Where it is asked.' },
        sdl: { rule: text, about: 'Its schema.' },
        headers: { rule: textMap, secret: 'all', about: 'Headers for it.' },
        subscriptionType: { rule: subscriptions, classic: 'subscription_type', about: 'How it sends events.' },
        sseUsePost: { rule: flag, classic: 'sse_use_post', about: 'Asks for server-sent events with POST.' },
      },
      classic: 'supergraph.subgraphs',
      about: 'The parts of the supergraph.',
    },
    typeFieldConfigurations: {
      list: {
        typeName: { rule: text, classic: 'type_name', about: 'The type.' },
        fieldName: { rule: text, classic: 'field_name', about: 'The field.' },
        mappingDisabled: { rule: flag, classic: 'mapping.disabled', about: 'The reply itself is the value.' },
        mappingPath: { rule: text, classic: 'mapping.path', about: 'Where in the reply the value is.' },
        kind: { rule: text, classic: 'data_source.kind', about: 'The kind of source.' },
        config: {
          rule: anything,
          secret: 'named',
          classic: 'data_source.data_source_config',
          about: 'How it is asked.',
        },
      },
      classic: 'type_field_configurations',
      about: 'Data sources as the first engine had them.',
    },
  },
});
