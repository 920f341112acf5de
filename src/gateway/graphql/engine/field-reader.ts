import {
  type FieldNode,
  type GraphQLResolveInfo,
  getNamedType,
  isCompositeType,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { type DataGraphDefinition, toFieldKey } from '#definition/data-graph/data-graph.ts';
import type { DataSource } from '#definition/data-graph/data-source.ts';
import type { SourceRequest } from '../data-graph.ts';
import { wrapValue } from './graphql-value.ts';
import type { OperationRun } from './operation-run.ts';
import { SourceError } from './source-error.ts';
import type { BuildSourceRequest } from './source-request.ts';
import {
  type GraphqlReply,
  type ResponseBounds,
  readGraphqlResponse,
  readRestResponse,
  toGraphqlReply,
} from './source-response.ts';
import { readOwn, type SourceScope } from './source-scope.ts';
import { buildUpstreamOperation, type OperationPlan, type UpstreamOperation } from './upstream-operation.ts';

export interface FieldReaderOptions {
  readonly builders: ReadonlyMap<DataSource, BuildSourceRequest>;
  readonly plan: OperationPlan;
  readonly mappings: DataGraphDefinition['mappings'];
  readonly bounds: ResponseBounds;
}

export interface FieldReader {
  /** Value of a field from its source. */
  fetch(
    source: DataSource,
    parent: unknown,
    args: Readonly<Record<string, unknown>>,
    run: OperationRun,
    info: GraphQLResolveInfo,
  ): Promise<unknown>;
  /** Request that subscribes a field of the subscription type at its source. */
  buildSubscription(source: DataSource, scope: SourceScope, info: GraphQLResolveInfo): SourceRequest;
  /** Value of a subscribed field in the payload of an event. */
  readEvent(source: DataSource, payload: unknown, run: OperationRun, info: GraphQLResolveInfo): unknown;
  /** Value of a field in its parent object, or in a response. */
  readMapped(from: unknown, type: string, field: string): unknown;
}

/** Reads values of fields: requests to sources, and mappings of their responses. */
export function createFieldReader({ builders, plan, mappings, bounds }: FieldReaderOptions): FieldReader {
  const operations = createOperationCache(plan);

  function readMapped(from: unknown, type: string, field: string): unknown {
    const mapping = mappings.get(toFieldKey(type, field));
    if (mapping === undefined) return readOwn(from, field);
    return mapping.reduce(readStep, from);
  }

  async function fetchPlanned(source: DataSource, scope: SourceScope, run: OperationRun, info: GraphQLResolveInfo) {
    const request = builders.get(source)!(scope, toRequestBody(operations.find(info, source, run), info));
    const reply = await run.fetch(request, response => readGraphqlResponse(source, response, bounds), isRead(info));
    return readPlannedReply(reply, source, run, info);
  }

  function readFixedReply(reply: GraphqlReply, run: OperationRun, info: GraphQLResolveInfo): unknown {
    const value = readMapped(reply.data, info.parentType.name, info.fieldName) ?? null;
    const [first] = reply.errors;
    if (value === null && first) throw new SourceError(first.message);
    const path = listPath(info);
    for (const { message } of reply.errors) run.addError({ message, path });
    addGeneralErrors(reply, run, info);
    return value;
  }

  return {
    readMapped,
    buildSubscription(source, scope, info) {
      const build = builders.get(source)!;
      if (source.operation !== '') return build(scope);
      const operation = buildUpstreamOperation(info, source, plan, () => {
        throw new SourceError(describeExcess(source, plan));
      });
      return build(scope, toRequestBody(operation, info));
    },
    readEvent(source, payload, run, info) {
      if (source.kind === 'Kafka') return readMapped(payload, info.parentType.name, info.fieldName);
      const reply = toGraphqlReply(source.name, payload);
      return source.operation === '' ? readPlannedReply(reply, source, run, info) : readFixedReply(reply, run, info);
    },
    async fetch(source, parent, args, run, info) {
      if (!isRead(info)) run.forgetResponses();
      const scope: SourceScope = { call: run.call, args, parent };
      if (source.kind === 'GraphQL' && source.operation === '') return fetchPlanned(source, scope, run, info);
      const request = builders.get(source)!(scope);
      const { name: type } = info.parentType;
      if (source.kind === 'REST') {
        const value = await run.fetch(request, response => readRestResponse(source, response, bounds), isRead(info));
        return readMapped(value, type, info.fieldName);
      }
      const reply = await run.fetch(request, response => readGraphqlResponse(source, response, bounds), isRead(info));
      return readFixedReply(reply, run, info);
    },
  };
}

/** The operation with the variables of the client that it uses. */
function toRequestBody({ query, variableNames }: UpstreamOperation, { variableValues }: GraphQLResolveInfo): object {
  const present = variableNames.filter(name => Object.hasOwn(variableValues, name));
  return { query, variables: Object.fromEntries(present.map(name => [name, variableValues[name]])) };
}

function readPlannedReply(reply: GraphqlReply, source: DataSource, run: OperationRun, info: GraphQLResolveInfo) {
  addGeneralErrors(reply, run, info);
  const key = String(info.path.key);
  const errors = reply.errors.filter(({ path }) => path[0] === key);
  const below = errors.map(({ message, path }) => ({ message, path: path.slice(1) }));
  return wrapValue(readOwn(reply.data, key), source, below, isCompositeType(getNamedType(info.returnType)));
}

const describeExcess = ({ name }: DataSource, { maxOperationLength }: OperationPlan): string =>
  `the operation for the data source ${name} is longer than ${maxOperationLength} characters`;

/** Root fields of a mutation change something: each has a request of its own. */
const isRead = ({ operation, path }: GraphQLResolveInfo): boolean =>
  operation.operation !== OperationTypeNode.MUTATION || path.prev !== undefined;

function addGeneralErrors({ generalErrors }: GraphqlReply, run: OperationRun, info: GraphQLResolveInfo): void {
  const path = listPath(info);
  for (const message of generalErrors) run.addError({ message, path });
}

function listPath({ path }: GraphQLResolveInfo): (string | number)[] {
  const steps: (string | number)[] = [];
  for (let at: GraphQLResolveInfo['path'] | undefined = path; at; at = at.prev) steps.unshift(at.key);
  return steps;
}

const readStep = (value: unknown, step: string): unknown => {
  const index = /^\[(\d{1,9})\]$/.exec(step)?.[1];
  if (index !== undefined) return Array.isArray(value) ? value[Number(index)] : undefined;
  return readOwn(value, step);
};

/** A field in a fragment may be one of several types. */
interface CachedOperation extends Pick<GraphQLResolveInfo, 'parentType'> {
  readonly source: DataSource;
  readonly operation: UpstreamOperation;
}

interface CachedOperations {
  readonly byField: Map<FieldNode, CachedOperation>;
  /** Of their texts together. */
  length: number;
}

/** Texts of one document that are kept with it: the cache of documents does not count them. */
const maxKeptLength = 65_536;

/** Operations for sources by field. They live as long as the cached document, beyond a size as long as the run. */
function createOperationCache(plan: OperationPlan) {
  const cached = new WeakMap<OperationDefinitionNode | OperationRun, CachedOperations>();
  const build = (info: GraphQLResolveInfo, source: DataSource, run: OperationRun) =>
    buildUpstreamOperation(info, source, plan, () => run.fail(describeExcess(source, plan)));

  function keep(owner: OperationDefinitionNode | OperationRun, node: FieldNode, entry: CachedOperation): void {
    const kept = cached.get(owner) ?? { byField: new Map(), length: 0 };
    kept.byField.set(node, entry);
    kept.length += entry.operation.query.length;
    cached.set(owner, kept);
  }

  return {
    find(info: GraphQLResolveInfo, source: DataSource, run: OperationRun): UpstreamOperation {
      const { parentType, operation: document } = info;
      const [node, ...others] = info.fieldNodes;
      if (!node || others.length > 0) return build(info, source, run);
      const ofDocument = cached.get(document);
      for (const kept of [ofDocument, cached.get(run)]) {
        const known = kept?.byField.get(node);
        if (known?.source === source && known.parentType === parentType) return known.operation;
      }
      const operation = build(info, source, run);
      const isSmall = (ofDocument?.length ?? 0) + operation.query.length <= maxKeptLength;
      keep(isSmall ? document : run, node, { source, parentType, operation });
      return operation;
    },
  };
}
