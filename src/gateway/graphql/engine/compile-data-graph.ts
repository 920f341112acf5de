import { readDataGraph } from '#definition/data-graph/data-graph.ts';
import { checkDataGraph } from '#definition/data-graph/data-graph-check.ts';
import type { Model } from '#definition/model.ts';
import { loadGraphqlLanguage } from '#languages/lazy-languages.ts';
import { formatValidationError, type ValidationError } from '#operations/validation-error.ts';
import { listCredentialSources } from '../../auth/credential-sources.ts';
import type { PipelineServices } from '../../pipeline/services.ts';
import { ApiCompileError } from '../../pipeline/step.ts';
import { parseUpstreamAddress } from '../../proxy/load-balancer.ts';
import { decompressionBounds } from '../../transform/content-coding.ts';
import type { DataGraph } from '../data-graph.ts';
import { createTopicSubscriptions } from '../subscriptions/kafka-subscription.ts';
import { readSubscriptionBounds } from '../subscriptions/source-subscription.ts';
import { createGraphEngine } from './graph-engine.ts';

export type GraphServices = Pick<
  PipelineServices,
  'settings' | 'log' | 'secrets' | 'isContextName' | 'addressPolicies' | 'grants'
>;

/** Compiles the data graph of an API. An error that a write would be refused for fails the API. */
export function compileDataGraph(model: Model, services: GraphServices): DataGraph {
  const { graphql, identity } = model;
  const { settings } = services;
  const compiled = loadGraphqlLanguage().compileGraphqlSchema(graphql.schema);
  const graph = readDataGraph(graphql);
  failOnError(graph.errors);
  failOnError(checkDataGraph(graph, compiled));
  const maxValues = settings['gateway.max_body_values'];
  return createGraphEngine({
    graph,
    compiled,
    services,
    apiId: identity.id,
    credentialHeaders: listCredentialSources(model).flatMap(({ header }) => (header === '' ? [] : [header])),
    targetOrigin: URL.canParse(model.upstream.url) ? parseUpstreamAddress(model.upstream.url).origin : '',
    runBounds: {
      maxRequests: settings['graphql.max_source_requests'],
      maxConcurrent: settings['graphql.max_concurrent_source_requests'],
      timeoutMs: settings['graphql.execution_timeout_ms'],
      maxResultValues: maxValues,
      maxResultBytes: settings['gateway.max_buffered_body_bytes'],
    },
    maxOperationLength: settings['graphql.max_document_bytes'],
    subscribeToTopics: createTopicSubscriptions({
      services,
      apiId: identity.id,
      sources: [...new Set([...graph.fields.values()].map(it => it.source))].filter(it => it.kind === 'Kafka'),
      policy: services.addressPolicies.withNetworks(services.grants.of(identity.orgId).networks),
    }),
    subscriptionBounds: readSubscriptionBounds(settings),
    responseBounds: { decompression: decompressionBounds(settings), maxValues },
  });
}

function failOnError([first]: readonly ValidationError[]): void {
  if (first) throw new ApiCompileError(`the data graph is invalid: ${formatValidationError(first)}`);
}
