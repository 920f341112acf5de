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
import { wrapValue } from './graphql-value.ts';
import type { OperationRun } from './operation-run.ts';
import { SourceError } from './source-error.ts';
import type { BuildSourceRequest } from './source-request.ts';
import { type GraphqlReply, type ResponseBounds, readGraphqlResponse, readRestResponse } from './source-response.ts';
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
    const { query, variableNames } = operations.find(info, source, run);
    const present = variableNames.filter(name => Object.hasOwn(info.variableValues, name));
    const variables = Object.fromEntries(present.map(name => [name, info.variableValues[name]]));
    const request = builders.get(source)!(scope, { query, variables });
    const reply = await run.fetch(request, response => readGraphqlResponse(source, response, bounds), isRead(info));
    addGeneralErrors(reply, run, info);
    const key = String(info.path.key);
    const errors = reply.errors.filter(({ path }) => path[0] === key);
    const below = errors.map(({ message, path }) => ({ message, path: path.slice(1) }));
    return wrapValue(readOwn(reply.data, key), source, below, isCompositeType(getNamedType(info.returnType)));
  }

  return {
    readMapped,
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
      const value = readMapped(reply.data, type, info.fieldName) ?? null;
      const [first] = reply.errors;
      if (value === null && first) throw new SourceError(first.message);
      const path = listPath(info);
      for (const { message } of reply.errors) run.addError({ message, path });
      addGeneralErrors(reply, run, info);
      return value;
    },
  };
}

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
    buildUpstreamOperation(info, source, plan, () =>
      run.fail(`the operation for the data source ${source.name} is longer than ${plan.maxOperationLength} characters`),
    );

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
