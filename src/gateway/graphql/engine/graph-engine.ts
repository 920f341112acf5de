import {
  type ExecutionResult,
  execute,
  type GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLTypeResolver,
  getNamedType,
  isCompositeType,
} from 'graphql';
import { type DataGraphDefinition, toFieldKey } from '#definition/data-graph/data-graph.ts';
import { listSourceTexts } from '#definition/data-graph/data-graph-check.ts';
import type { DataSource } from '#definition/data-graph/data-source.ts';
import { listReferences, parseSourceTemplate } from '#definition/data-graph/source-template.ts';
import type { CompiledSchema } from '#languages/graphql/schema.ts';
import { loadGraphqlLanguage } from '#languages/lazy-languages.ts';
import type { CheckedGraphqlRequest } from '../../pipeline/checked-graphql.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import type { PipelineServices } from '../../pipeline/services.ts';
import type { VariableServices } from '../../variables/variables.ts';
import type { DataGraph, SendToSource } from '../data-graph.ts';
import { maskedMessage } from '../mask-errors.ts';
import type { SubscribeToTopics } from '../subscriptions/kafka-subscription.ts';
import type { SubscriptionBounds } from '../subscriptions/source-subscription.ts';
import { createFieldReader, type FieldReader } from './field-reader.ts';
import { GraphqlValue, readMember } from './graphql-value.ts';
import { type AddedError, nameOverhead, OperationRun, type RunBounds } from './operation-run.ts';
import { SourceError } from './source-error.ts';
import { openSourceEvents, SubscriptionEvent } from './source-events.ts';
import { type BuildSourceRequest, compileSourceRequest } from './source-request.ts';
import type { ResponseBounds } from './source-response.ts';
import { measureTypeNames } from './type-names.ts';
import type { OperationPlan } from './upstream-operation.ts';

export interface EngineOptions {
  readonly graph: DataGraphDefinition;
  readonly compiled: CompiledSchema;
  readonly services: VariableServices & Pick<PipelineServices, 'log'>;
  readonly apiId: string;
  readonly credentialHeaders: readonly string[];
  /** Origin of the upstream of the API; empty where it has none. */
  readonly targetOrigin: string;
  readonly runBounds: RunBounds;
  readonly responseBounds: ResponseBounds;
  readonly maxOperationLength: number;
  readonly subscriptionBounds: SubscriptionBounds;
  readonly subscribeToTopics: SubscribeToTopics;
}

/**
 * Engine of a data graph: the executor of the graphql package, with a resolver that reads each field from its source or
 * from the parent object.
 */
export function createGraphEngine(options: EngineOptions): DataGraph {
  const { graph, compiled, services, apiId, runBounds, responseBounds } = options;
  const builders = new Map<DataSource, BuildSourceRequest>();
  for (const { source } of graph.fields.values())
    if (source.kind !== 'Kafka' && !builders.has(source))
      builders.set(source, compileSourceRequest(source, graph.headers, services, options.targetOrigin));
  const plan = createPlan(graph, options.maxOperationLength);
  const reader = createFieldReader({ builders, plan, mappings: graph.mappings, bounds: responseBounds });
  const fieldResolver = createResolver(graph, reader);
  const onBug = (error: Error) => services.log.error({ err: error, api: apiId }, 'data graph failed');
  async function run(call: Exchange, request: CheckedGraphqlRequest, send: SendToSource, event?: SubscriptionEvent) {
    const operation = new OperationRun(call, send, runBounds);
    try {
      const result = await executeRequest(compiled, request, operation, fieldResolver, event);
      return formatResult(result, operation, onBug);
    } finally {
      operation.finish();
    }
  }

  return {
    async *subscribe(request, own) {
      const { subscriptionBounds: bounds, subscribeToTopics } = options;
      const events = await openSourceEvents({ graph, compiled, reader, bounds, subscribeToTopics }, request, own);
      for await (const event of events) yield await run(own.call, request, own.transport.createSend(), event);
    },
    credentialHeaders: options.credentialHeaders,
    async execute(call, request, send) {
      const excess = request.operation.hasIntrospection && findExcess(compiled, request);
      if (excess) return { errors: excess.errors };
      return run(call, request, send);
    },
  };
}

/** Introspection beside other fields is bounded as it is alone. */
const findExcess = (compiled: CompiledSchema, request: CheckedGraphqlRequest) =>
  loadGraphqlLanguage().findIntrospectionExcess(compiled, request, request.operation);

function executeRequest(
  { schema }: CompiledSchema,
  { document, operation, variables }: CheckedGraphqlRequest,
  run: OperationRun,
  fieldResolver: GraphQLFieldResolver<unknown, OperationRun>,
  rootValue?: SubscriptionEvent,
): ExecutionResult | Promise<ExecutionResult> {
  return execute({
    schema,
    document,
    rootValue,
    contextValue: run,
    variableValues: variables,
    operationName: operation.name || null,
    fieldResolver,
    typeResolver,
  }) as ExecutionResult | Promise<ExecutionResult>;
}

/** The object type of a value is in its `__typename`, unless there is only one. */
const typeResolver: GraphQLTypeResolver<unknown, OperationRun> = (value, _run, { schema }, abstractType) => {
  const name = value instanceof GraphqlValue ? readMember(value, 'typename') : readMember(value, '__typename');
  if (typeof name === 'string') return name;
  const [only, ...others] = schema.getPossibleTypes(abstractType);
  if (only && others.length === 0) return only.name;
  throw new SourceError(`a value of ${abstractType.name} has no __typename`);
};

function createResolver(graph: DataGraphDefinition, reader: FieldReader): GraphQLFieldResolver<unknown, OperationRun> {
  return (parent, args, run, info) => {
    const { parentType, fieldName } = info;
    run.chargeNames(String(info.path.key).length + nameOverhead);
    const entry = graph.fields.get(toFieldKey(parentType.name, fieldName));
    const isComposite = isCompositeType(getNamedType(info.returnType));
    const isCarried =
      parent instanceof GraphqlValue && parent.source === entry?.source && parent.source.operation === '';
    if (parent instanceof SubscriptionEvent && parent.failure !== '') throw new SourceError(parent.failure);
    if (parent instanceof SubscriptionEvent)
      return chargeValue(run, reader.readEvent(parent.source, parent.payload, run, info), info);
    if (entry && !isCarried)
      return reader.fetch(entry.source, parent, args, run, info).then(value => chargeValue(run, value, info));
    if (isRootField(info)) throw new SourceError(`the field ${parentType.name}.${fieldName} has no data source`);
    const value =
      parent instanceof GraphqlValue
        ? parent.read(String(info.path.key), isComposite)
        : reader.readMapped(parent, parentType.name, fieldName);
    return chargeValue(run, value, info);
  };
}

const isRootField = ({ path }: GraphQLResolveInfo): boolean => path.prev === undefined;

function chargeValue(run: OperationRun, value: unknown, info: GraphQLResolveInfo): unknown {
  run.charge(value);
  if (!isCompositeType(getNamedType(info.returnType))) run.chargeLeaf(value);
  else chargeTypeNames(run, value, info);
  return value;
}

/** The executor resolves `__typename` of each object itself. */
function chargeTypeNames(run: OperationRun, value: unknown, info: GraphQLResolveInfo): void {
  const { count, length } = measureTypeNames(info);
  if (count === 0) return;
  const objects = countObjects(value);
  run.chargeNames(objects * length, objects * count);
}

const countObjects = (value: unknown): number =>
  Array.isArray(value) ? value.reduce<number>((sum, item) => sum + countObjects(item), 0) : 1;

function createPlan({ fields, mappings }: DataGraphDefinition, maxOperationLength: number): OperationPlan {
  const required = new Map<DataSource, readonly (readonly string[])[]>();
  const listRequired = (source: DataSource) => {
    const known = required.get(source);
    if (known) return known;
    const references = listSourceTexts(source).flatMap(([, text]) => listReferences(parseSourceTemplate(text)));
    const paths = references.filter(({ from }) => from === 'object').map(({ path }) => path);
    required.set(source, paths);
    return paths;
  };
  return {
    maxOperationLength,
    findSource: (type, field) => fields.get(toFieldKey(type, field))?.source,
    listRequiredMembers(type, field) {
      const source = fields.get(toFieldKey(type, field))?.source;
      return source ? listRequired(source) : [];
    },
    nameAtSource(type, field) {
      const mapping = mappings.get(toFieldKey(type, field));
      return mapping?.length === 1 ? mapping[0]! : field;
    },
  };
}

/** Errors of the executor about values: of the wrong type, or null where the schema allows none. */
const isResultError = ({ name, message }: Error): boolean =>
  name === 'GraphQLError' || message.startsWith('Cannot return null for non-nullable field');

const formatStop = ({ stopReason }: OperationRun) => ({ errors: [{ message: stopReason }], data: null });

/** Counts the errors of the executor too; false beyond a bound of the result. */
function canHold(run: OperationRun, errors: readonly Partial<AddedError>[]): boolean {
  try {
    for (const { message = '', path = [] } of errors) run.chargeError({ message, path });
    return true;
  } catch (error) {
    if (error instanceof SourceError) return false;
    throw error;
  }
}

/** Errors that are no result of a source are bugs: clients see that there was one, the log has it. */
function formatResult(
  { data, errors = [] }: ExecutionResult,
  run: OperationRun,
  onBug: (error: Error) => void,
): object {
  if (run.stopReason !== '') return formatStop(run);
  const formatted = errors.map(error => {
    const { originalError: cause, path } = error as GraphQLError;
    if (!cause || cause instanceof SourceError || isResultError(cause))
      return { message: error.message, ...(path && { path }) };
    onBug(cause);
    return { message: maskedMessage, ...(path && { path }) };
  });
  if (!canHold(run, formatted)) return formatStop(run);
  const all = [...formatted, ...run.addedErrors];
  return { ...(all.length > 0 && { errors: all }), ...(data !== undefined && { data }) };
}
