import { facet } from '../facet.ts';
import {
  anythingRule,
  choiceRule,
  countRule,
  flagRule,
  textListRule,
  textMapRule,
  textRule,
  timestampRule,
} from '../rules.ts';

const headerList = {
  list: {
    key: { rule: textRule, about: 'Header name.' },
    value: { rule: textRule, secret: 'all', about: 'Header value.' },
  },
} as const;
const subscriptions = choiceRule('graphql-ws', 'graphql-transport-ws', 'sse');

export const graphql = facet({
  name: 'graphql',
  about: 'GraphQL API: a validating proxy, a graph over data sources, a subgraph or a supergraph.',
  classic: 'graphql',
  oas: null,
  // The GraphQL engine interpolates its own configuration.
  interpolation: 'nothing',
  fields: {
    enabled: { rule: flagRule, about: 'Enables GraphQL.' },
    executionMode: {
      rule: choiceRule('proxyOnly', 'executionEngine', 'subgraph', 'supergraph'),
      classic: 'execution_mode',
      about: 'Execution mode; empty for proxyOnly.',
    },
    version: { rule: textRule, about: 'Version of the engine the configuration was written for.' },
    schema: { rule: textRule, about: 'Schema that requests are validated against.' },
    lastSchemaUpdate: {
      rule: timestampRule,
      classic: 'last_schema_update',
      about: 'Time of the last change of the schema.',
    },
    schemaUpdateSeconds: {
      rule: countRule,
      classic: 'schema_updates.interval_seconds',
      about:
        'Interval of updates of the schema by introspection of the upstream, or of the SDL of the subgraphs, in seconds; 0 for none.',
    },
    introspectionDisabled: {
      rule: flagRule,
      classic: 'introspection.disabled',
      about: 'Disables introspection queries.',
    },
    maxQueryDepth: {
      rule: countRule,
      classic: 'limits.max_query_depth',
      about: 'Maximum depth of operations of every client; 0 for that of the gateway.',
    },
    maxCost: {
      rule: countRule,
      classic: 'limits.max_cost',
      about: 'Maximum cost of an operation: its fields, those of a list once for each item. 0 for that of the gateway.',
    },
    defaultListSize: {
      rule: countRule,
      classic: 'limits.default_list_size',
      about: 'Number of items of a list without a size argument, for the cost; 0 for that of the gateway.',
    },
    maxAliases: {
      rule: countRule,
      classic: 'limits.max_aliases',
      about: 'Maximum number of aliases of a document; 0 for that of the gateway.',
    },
    maxDirectives: {
      rule: countRule,
      classic: 'limits.max_directives',
      about: 'Maximum number of directives of a document; 0 for that of the gateway.',
    },
    trustedDocumentsMode: {
      rule: choiceRule('accept', 'only'),
      classic: 'trusted_documents.mode',
      about: 'Trusted documents: `accept` resolves their hashes, `only` refuses every other document.',
    },
    trustedDocuments: {
      rule: textMapRule,
      classic: 'trusted_documents.documents',
      about: 'Map from the SHA-256 of a document, in hexadecimal, to its text.',
    },
    maskErrors: {
      rule: flagRule,
      classic: 'mask_errors',
      about: 'Replaces messages and extensions of errors in responses of the upstream.',
    },
    playgroundEnabled: { rule: flagRule, classic: 'playground.enabled', about: 'Serves a page to try queries in.' },
    playgroundPath: { rule: textRule, classic: 'playground.path', about: 'Path of the page below the listen path.' },
    subgraphSdl: { rule: textRule, classic: 'subgraph.sdl', about: 'Schema of this API as a subgraph.' },
    dataSources: {
      list: {
        kind: { rule: textRule, about: 'Kind of data source: REST, GraphQL or Kafka.' },
        name: { rule: textRule, about: 'Name of the data source, unique in the API.' },
        internal: { rule: flagRule, about: 'Marks another API of this gateway as the source.' },
        rootFields: {
          list: {
            type: { rule: textRule, about: 'Name of the type.' },
            fields: { rule: textListRule, about: 'Fields of the type that the source resolves.' },
          },
          classic: 'root_fields',
          about: 'Root fields that the source resolves.',
        },
        config: { rule: anythingRule, secret: 'named', about: 'Configuration of the source, depending on its kind.' },
      },
      classic: 'engine.data_sources',
      about: 'Data sources of field values.',
    },
    fieldConfigs: {
      list: {
        typeName: { rule: textRule, classic: 'type_name', about: 'Name of the type.' },
        fieldName: { rule: textRule, classic: 'field_name', about: 'Name of the field.' },
        disableDefaultMapping: {
          rule: flagRule,
          classic: 'disable_default_mapping',
          about: 'Takes the whole response as the value, not its member of that name.',
        },
        path: { rule: textListRule, about: 'Path of the value in the response.' },
      },
      classic: 'engine.field_configs',
      about: 'Mapping of responses to field values.',
    },
    engineHeaders: {
      ...headerList,
      classic: 'engine.global_headers',
      about: 'Headers of requests to every data source.',
    },
    authHeaders: {
      rule: textMapRule,
      secret: 'all',
      classic: 'proxy.auth_headers',
      about: 'Headers of the request for the upstream schema.',
    },
    requestHeaders: {
      rule: textMapRule,
      secret: 'all',
      classic: 'proxy.request_headers',
      about: 'Headers of every upstream request.',
    },
    requestHeadersRewrite: {
      map: {
        value: { rule: textRule, secret: 'all', about: 'Fixed value of the header.' },
        remove: { rule: flagRule, about: 'Removes the header if it has another value.' },
      },
      classic: 'proxy.request_headers_rewrite',
      about: 'Map from header name to its final rewrite.',
    },
    useImmutableHeaders: {
      rule: flagRule,
      classic: 'proxy.features.use_immutable_headers',
      about: 'Preserves a header of the client over one set here.',
    },
    subscriptionType: {
      rule: subscriptions,
      classic: 'proxy.subscription_type',
      about: 'Protocol of upstream subscriptions.',
    },
    sseUsePost: { rule: flagRule, classic: 'proxy.sse_use_post', about: 'Requests server-sent events with POST.' },
    onErrorForwarding: {
      rule: flagRule,
      classic: 'proxy.use_response_extensions.on_error_forwarding',
      about: 'Includes the error body of the upstream in the extensions of the response.',
    },
    mergedSdl: { rule: textRule, classic: 'supergraph.merged_sdl', about: 'Schema of the whole supergraph.' },
    disableQueryBatching: {
      rule: flagRule,
      classic: 'supergraph.disable_query_batching',
      about: 'Disables batching of queries to subgraphs.',
    },
    supergraphHeaders: {
      rule: textMapRule,
      secret: 'all',
      classic: 'supergraph.global_headers',
      about: 'Headers of requests to every subgraph.',
    },
    supergraphUpdatedAt: {
      rule: timestampRule,
      classic: 'supergraph.updated_at',
      about: 'Time of the last composition.',
    },
    subgraphs: {
      list: {
        apiId: { rule: textRule, classic: 'api_id', about: 'Id of the API that is the subgraph.' },
        name: { rule: textRule, about: 'Name of the subgraph.' },
        url: { rule: textRule, about: 'URL of the subgraph.' },
        sdl: { rule: textRule, about: 'Schema of the subgraph.' },
        headers: { rule: textMapRule, secret: 'all', about: 'Headers of requests to the subgraph.' },
        subscriptionType: {
          rule: subscriptions,
          classic: 'subscription_type',
          about: 'Protocol of its subscriptions; empty for the WebSocket protocol that the subgraph chooses.',
        },
        sseUsePost: { rule: flagRule, classic: 'sse_use_post', about: 'Requests server-sent events with POST.' },
      },
      classic: 'supergraph.subgraphs',
      about: 'Subgraphs of the supergraph.',
    },
    typeFieldConfigurations: {
      list: {
        typeName: { rule: textRule, classic: 'type_name', about: 'Name of the type.' },
        fieldName: { rule: textRule, classic: 'field_name', about: 'Name of the field.' },
        mappingDisabled: {
          rule: flagRule,
          classic: 'mapping.disabled',
          about: 'Takes the whole response as the value.',
        },
        mappingPath: { rule: textRule, classic: 'mapping.path', about: 'Path of the value in the response.' },
        kind: { rule: textRule, classic: 'data_source.kind', about: 'Kind of data source.' },
        config: {
          rule: anythingRule,
          secret: 'named',
          classic: 'data_source.data_source_config',
          about: 'Configuration of the source.',
        },
      },
      classic: 'type_field_configurations',
      about: 'Data sources in the notation of the first engine.',
    },
  },
});
