import { getVariableValues } from 'graphql';
import type { JsonObject } from '#base/json-tree.ts';
import type { DataSource } from '#definition/data-graph/data-source.ts';
import type { Model } from '#definition/model.ts';
import { composeDefinition } from '#definition/supergraph/supergraph.ts';
import type { SupergraphTypes } from '#languages/graphql/federation/supergraph-types.ts';
import type { CompiledSchema } from '#languages/graphql/schema.ts';
import { loadGraphqlLanguage } from '#languages/lazy-languages.ts';
import { formatValidationError } from '#operations/validation-error.ts';
import { listCredentialSources } from '../../auth/credential-sources.ts';
import type { CheckedGraphqlRequest } from '../../pipeline/checked-graphql.ts';
import { ensureRequestId } from '../../pipeline/request-id.ts';
import type { PipelineServices } from '../../pipeline/services.ts';
import { ApiCompileError } from '../../pipeline/step.ts';
import { parseUpstreamAddress } from '../../proxy/load-balancer.ts';
import { decompressionBounds } from '../../transform/content-coding.ts';
import type { DataGraph, SubscriptionCall } from '../data-graph.ts';
import { OperationRun, type RunBounds } from '../engine/operation-run.ts';
import { SourceError } from '../engine/source-error.ts';
import { compileSourceRequest } from '../engine/source-request.ts';
import {
  readSubscriptionBounds,
  type SubscriptionBounds,
  subscribeToSource,
} from '../subscriptions/source-subscription.ts';
import { type PlanOptions, PlanRun, type Subgraph } from './plan-run.ts';
import { createTypeResolver, formatProjection, projectResult } from './project-result.ts';
import { createQueryPlans, type FindPlan } from './query-plans.ts';
import { type SubgraphReply, toSubgraphReply } from './subgraph-response.ts';
import { findSubscription } from './subscription-node.ts';
import { createTypeMatcher } from './type-conditions.ts';

type Services = Pick<PipelineServices, 'settings' | 'log' | 'secrets' | 'isContextName'>;

/** Compiles the supergraph of an API: its operations are planned, and executed by its subgraphs. */
export function compileSupergraph(model: Model, services: Services): DataGraph {
  const { graphql, identity } = model;
  const { settings } = services;
  const supergraph = composeDefinition(graphql);
  if ('errors' in supergraph)
    throw new ApiCompileError(`the supergraph is invalid: ${formatValidationError(supergraph.errors[0]!)}`);
  const { supergraphSdl } = supergraph.composed;
  const types = supergraph.composed.readTypes();
  const partlyHidden = findPartlyHidden(types, supergraph.compiled);
  const maxValues = settings['gateway.max_body_values'];
  const sendsParentId = model.contextVariables.enabled;
  const engine: Engine = {
    compiled: supergraph.compiled,
    findPlan: createQueryPlans(supergraphSdl, {
      orgId: identity.orgId,
      apiId: identity.id,
      types,
      partlyHidden,
      onFailure: error => services.log.error({ err: error, api: identity.id }, 'query planning failed'),
    }),
    typeResolver: createTypeResolver(partlyHidden),
    planOptions: {
      subgraphs: compileSubgraphs(model, services),
      match: createTypeMatcher(types),
      responseBounds: { decompression: decompressionBounds(settings), maxValues },
      batchesEntities: !graphql.disableQueryBatching,
      listHeaders: ({ call }) => (sendsParentId ? ['X-Gw-Parent-Request-Id', ensureRequestId(call)] : []),
    },
    runBounds: {
      maxRequests: settings['graphql.max_source_requests'],
      maxConcurrent: settings['graphql.max_concurrent_source_requests'],
      timeoutMs: settings['graphql.execution_timeout_ms'],
      maxResultValues: maxValues,
      maxResultBytes: settings['gateway.max_buffered_body_bytes'],
    },
    subscriptionBounds: readSubscriptionBounds(settings),
    onBug: error => services.log.error({ err: error, api: identity.id }, 'supergraph failed'),
  };
  return {
    credentialHeaders: listCredentialSources(model).flatMap(({ header }) => (header === '' ? [] : [header])),
    async execute(call, request, send) {
      const { compiled, runBounds } = engine;
      const excess =
        request.operation.hasIntrospection &&
        loadGraphqlLanguage().findIntrospectionExcess(compiled, request, request.operation);
      if (excess) return { errors: excess.errors };
      return runOperation(engine, request, new OperationRun(call, send, runBounds));
    },
    subscribe: (request, own) => subscribeToSubgraph(engine, request, own),
  };
}

async function runOperation(
  engine: Engine,
  request: CheckedGraphqlRequest,
  run: OperationRun,
  event?: SubgraphReply,
): Promise<object> {
  try {
    return await executePlan(engine, request, run, event);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { errors: [{ message: run.stopReason || error.message }], data: null };
  } finally {
    run.finish();
  }
}

/** Subscribes at the subgraph of the field; the plan fetches entities of the others for each event. */
async function* subscribeToSubgraph(
  engine: Engine,
  request: CheckedGraphqlRequest,
  own: SubscriptionCall,
): AsyncGenerator<object, void> {
  const { planOptions, subscriptionBounds: bounds } = engine;
  const { node } = (await engine.findPlan(request.document, request.operation.node, own)) ?? {};
  const variables = readVariables(engine.compiled, request);
  const primary = node && findSubscription(node, variables);
  if (!primary) throw new SourceError('the operation subscribes to nothing');
  const { source, build } = planOptions.subgraphs.get(primary.serviceName)!;
  const used = (primary.variableUsages ?? []).filter(name => Object.hasOwn(variables, name));
  const body = { query: primary.operation, variables: Object.fromEntries(used.map(name => [name, variables[name]])) };
  const built = build({ call: own.call, args: {}, parent: undefined }, body);
  const requested = { ...built, headers: [...built.headers, ...planOptions.listHeaders(own)] };
  for await (const payload of subscribeToSource(source, requested, own, bounds)) {
    const event = toSubgraphReply(source.name, payload);
    if (!event) throw new SourceError(`an event of the subgraph ${source.name} has neither data nor errors`);
    yield await runOperation(
      engine,
      request,
      new OperationRun(own.call, own.transport.createSend(), engine.runBounds),
      event,
    );
  }
}

interface Engine {
  readonly compiled: CompiledSchema;
  readonly findPlan: FindPlan;
  readonly typeResolver: ReturnType<typeof createTypeResolver>;
  readonly planOptions: PlanOptions;
  readonly runBounds: RunBounds;
  readonly subscriptionBounds: SubscriptionBounds;
  onBug(error: Error): void;
}

async function executePlan(
  engine: Engine,
  request: CheckedGraphqlRequest,
  run: OperationRun,
  event?: SubgraphReply,
): Promise<object> {
  const { compiled, planOptions } = engine;
  const { document, operation } = request;
  const known = engine.findPlan(document, operation.node, run);
  const plan = known instanceof Promise ? await known : known;
  const plannedRun = new PlanRun(run, readVariables(compiled, request), planOptions, event);
  if (plan?.node) await plannedRun.execute(plan.node);
  if (run.stopReason !== '') throw new SourceError(run.stopReason);
  const result = projectResult(compiled, request, run, plannedRun.data, engine.typeResolver);
  if (run.stopReason !== '') throw new SourceError(run.stopReason);
  return formatProjection(result, plannedRun.errors, run, engine.onBug);
}

/** Interfaces and unions that have more types in the supergraph than in the schema of clients. */
function findPartlyHidden(types: SupergraphTypes, { possibleTypes }: CompiledSchema): ReadonlySet<string> {
  const isHidden = (type: string, name: string) => !possibleTypes.get(type)?.includes(name);
  const found = [...types.possibleTypes].filter(([type, names]) => [...names].some(name => isHidden(type, name)));
  return new Set(found.map(([type]) => type));
}

/** Variables as the client sent them, with the defaults of the others. */
function readVariables({ schema }: CompiledSchema, { operation, variables }: CheckedGraphqlRequest): JsonObject {
  const definitions = operation.node.variableDefinitions ?? [];
  if (definitions.every(({ variable }) => Object.hasOwn(variables, variable.name.value))) return { ...variables };
  const { coerced = {} } = getVariableValues(schema, definitions, { ...variables });
  return { ...coerced, ...variables };
}

function compileSubgraphs({ graphql, upstream }: Model, services: Services): ReadonlyMap<string, Subgraph> {
  const targetOrigin = URL.canParse(upstream.url) ? parseUpstreamAddress(upstream.url).origin : '';
  const globalHeaders = Object.entries(graphql.supergraphHeaders);
  return new Map(
    graphql.subgraphs.map(({ name, url, headers, subscriptionType, sseUsePost }, at) => {
      const source: DataSource = {
        kind: 'GraphQL',
        name,
        place: `graphql.supergraph.subgraphs[${at}]`,
        url,
        method: 'POST',
        headers: Object.entries(headers),
        query: [],
        body: '',
        operation: '',
        variables: undefined,
        typeNames: new Map(),
        defaultTypeName: '',
        ...{ subscriptionType, sseUsePost },
      };
      return [name, { source, build: compileSourceRequest(source, globalHeaders, services, targetOrigin) }];
    }),
  );
}
