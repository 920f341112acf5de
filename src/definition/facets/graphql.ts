import { facet } from '../facet.ts';
import { anythingRule, choiceRule, flagRule, textListRule, textMapRule, textRule, timestampRule } from '../rules.ts';

const headerList = {
  list: {
    key: { rule: textRule, about: 'Header name.' },
    value: { rule: textRule, secret: 'all', about: 'Header value.' },
  },
} as const;
const subscriptions = choiceRule('graphql-ws', 'graphql-transport-ws', 'sse');

export const graphql = facet({
  name: 'graphql',
  about: 'Makes the API a GraphQL one: a checked proxy, a graph over data sources, a subgraph or a supergraph.',
  classic: 'graphql',
  oas: null,
  // The GraphQL engine interpolates its own configuration.
  interpolation: 'nothing',
  fields: {
    enabled: { rule: flagRule, about: 'Every call is GraphQL.' },
    executionMode: {
      rule: choiceRule('proxyOnly', 'executionEngine', 'subgraph', 'supergraph'),
      classic: 'execution_mode',
      about: 'What answers; empty for proxyOnly.',
    },
    version: { rule: textRule, about: 'The engine the configuration was written for.' },
    schema: { rule: textRule, about: 'The schema calls are checked against.' },
    lastSchemaUpdate: { rule: timestampRule, classic: 'last_schema_update', about: 'When the schema last changed.' },
    introspectionDisabled: {
      rule: flagRule,
      classic: 'introspection.disabled',
      about: 'Refuses questions about the schema.',
    },
    playgroundEnabled: { rule: flagRule, classic: 'playground.enabled', about: 'Serves a page to try queries in.' },
    playgroundPath: { rule: textRule, classic: 'playground.path', about: 'Where, below the listen path.' },
    subgraphSdl: { rule: textRule, classic: 'subgraph.sdl', about: 'The schema this API adds to a supergraph.' },
    dataSources: {
      list: {
        kind: { rule: textRule, about: 'REST, GraphQL or Kafka.' },
        name: { rule: textRule, about: 'A name no other source of the API has.' },
        internal: { rule: flagRule, about: 'The source is another API of this gateway.' },
        rootFields: {
          list: {
            type: { rule: textRule, about: 'The type.' },
            fields: { rule: textListRule, about: 'Its fields that this source answers.' },
          },
          classic: 'root_fields',
          about: 'What the source answers.',
        },
        config: { rule: anythingRule, secret: 'named', about: 'How it is asked; depends on the kind.' },
      },
      classic: 'engine.data_sources',
      about: 'Where the values of fields come from.',
    },
    fieldConfigs: {
      list: {
        typeName: { rule: textRule, classic: 'type_name', about: 'The type.' },
        fieldName: { rule: textRule, classic: 'field_name', about: 'The field.' },
        disableDefaultMapping: {
          rule: flagRule,
          classic: 'disable_default_mapping',
          about: 'The reply itself is the value, not its member of that name.',
        },
        path: { rule: textListRule, about: 'Where in the reply the value is.' },
      },
      classic: 'engine.field_configs',
      about: 'How replies become field values.',
    },
    engineHeaders: { ...headerList, classic: 'engine.global_headers', about: 'Headers for every data source.' },
    authHeaders: {
      rule: textMapRule,
      secret: 'all',
      classic: 'proxy.auth_headers',
      about: 'Headers for fetching the upstream schema.',
    },
    requestHeaders: {
      rule: textMapRule,
      secret: 'all',
      classic: 'proxy.request_headers',
      about: 'Headers for every upstream call.',
    },
    requestHeadersRewrite: {
      map: {
        value: { rule: textRule, secret: 'all', about: 'The value forced.' },
        remove: { rule: flagRule, about: 'Drops the header when it has another value.' },
      },
      classic: 'proxy.request_headers_rewrite',
      about: 'Header name to what happens to it last.',
    },
    useImmutableHeaders: {
      rule: flagRule,
      classic: 'proxy.features.use_immutable_headers',
      about: 'A header of the caller wins over one set here.',
    },
    subscriptionType: {
      rule: subscriptions,
      classic: 'proxy.subscription_type',
      about: 'How the upstream sends events.',
    },
    sseUsePost: { rule: flagRule, classic: 'proxy.sse_use_post', about: 'Asks for server-sent events with POST.' },
    onErrorForwarding: {
      rule: flagRule,
      classic: 'proxy.use_response_extensions.on_error_forwarding',
      about: 'Shows the upstream’s error body in the extensions of the answer.',
    },
    mergedSdl: { rule: textRule, classic: 'supergraph.merged_sdl', about: 'The schema of the whole supergraph.' },
    disableQueryBatching: {
      rule: flagRule,
      classic: 'supergraph.disable_query_batching',
      about: 'Asks subgraphs one question at a time.',
    },
    supergraphHeaders: {
      rule: textMapRule,
      secret: 'all',
      classic: 'supergraph.global_headers',
      about: 'Headers for every subgraph.',
    },
    supergraphUpdatedAt: { rule: timestampRule, classic: 'supergraph.updated_at', about: 'When it was last composed.' },
    subgraphs: {
      list: {
        apiId: { rule: textRule, classic: 'api_id', about: 'The API that is the subgraph.' },
        name: { rule: textRule, about: 'Its name.' },
        url: { rule: textRule, about: 'Where it is asked.' },
        sdl: { rule: textRule, about: 'Its schema.' },
        headers: { rule: textMapRule, secret: 'all', about: 'Headers for it.' },
        subscriptionType: { rule: subscriptions, classic: 'subscription_type', about: 'How it sends events.' },
        sseUsePost: { rule: flagRule, classic: 'sse_use_post', about: 'Asks for server-sent events with POST.' },
      },
      classic: 'supergraph.subgraphs',
      about: 'The parts of the supergraph.',
    },
    typeFieldConfigurations: {
      list: {
        typeName: { rule: textRule, classic: 'type_name', about: 'The type.' },
        fieldName: { rule: textRule, classic: 'field_name', about: 'The field.' },
        mappingDisabled: { rule: flagRule, classic: 'mapping.disabled', about: 'The reply itself is the value.' },
        mappingPath: { rule: textRule, classic: 'mapping.path', about: 'Where in the reply the value is.' },
        kind: { rule: textRule, classic: 'data_source.kind', about: 'The kind of source.' },
        config: {
          rule: anythingRule,
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
