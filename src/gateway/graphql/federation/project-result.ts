import {
  type ExecutionResult,
  executeSync,
  type GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLTypeResolver,
  getNamedType,
  isCompositeType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { JsonObject } from '#base/json-tree.ts';
import type { CompiledSchema } from '#languages/graphql/schema.ts';
import type { CheckedGraphqlRequest } from '../../pipeline/checked-graphql.ts';
import { nameOverhead, type OperationRun } from '../engine/operation-run.ts';
import { SourceError } from '../engine/source-error.ts';
import { readOwn } from '../engine/source-scope.ts';
import { maskedMessage } from '../mask-errors.ts';
import { findPlannedAlias } from './response-keys.ts';
import type { SubgraphError } from './subgraph-response.ts';

/**
 * Projection of the merged tree onto the operation, by the executor of the graphql package: it knows fragments, types,
 * conditions and the propagation of null, and answers introspection. No resolver waits.
 */
export function projectResult(
  { schema }: CompiledSchema,
  { document, operation, variables }: CheckedGraphqlRequest,
  run: OperationRun,
  data: JsonObject,
  typeResolver: GraphQLTypeResolver<unknown, OperationRun>,
): ExecutionResult {
  return executeSync({
    schema,
    document,
    rootValue: data,
    contextValue: run,
    variableValues: variables,
    operationName: operation.name || null,
    fieldResolver,
    typeResolver,
  });
}

const fieldResolver: GraphQLFieldResolver<unknown, OperationRun> = (parent, _args, run, info) => {
  const key = String(info.path.key);
  const value = readOwn(parent, findPlannedAlias(info.fieldNodes[0]!) ?? info.fieldName) ?? null;
  run.chargeNames(key.length + nameOverhead);
  run.charge(value);
  if (!isCompositeType(getNamedType(info.returnType))) run.chargeLeaf(value);
  return value;
};

/**
 * The object type of a value. A plan leaves it out where no selection depends on it, and an interface object has the name
 * of the interface: any type will do then. Subgraphs may have types that clients do not see: no error names them, and a
 * value of an interface or union that has such types must have a name that clients see.
 */
export const createTypeResolver =
  (partlyHidden: ReadonlySet<string>): GraphQLTypeResolver<unknown, OperationRun> =>
  (value, _run, info, abstractType) => {
    const name = readOwn(value, '__typename');
    const possible = info.schema.getPossibleTypes(abstractType);
    if (possible.some(type => type.name === name)) return name as string;
    const isOpen = (name === undefined || name === abstractType.name) && !partlyHidden.has(abstractType.name);
    const [first] = possible;
    if (isOpen && first && !info.fieldNodes.some(node => dependsOnType(node.selectionSet, info, abstractType.name)))
      return first.name;
    throw new SourceError(`a value of ${abstractType.name} is of no type of the schema`);
  };

/** True where a selection has the name of the type, or a condition on it. */
function dependsOnType(set: SelectionSetNode | undefined, info: GraphQLResolveInfo, type: string): boolean {
  return (set?.selections ?? []).some(selection => {
    if (selection.kind === Kind.FIELD) return selection.name.value === '__typename';
    const part = selection.kind === Kind.INLINE_FRAGMENT ? selection : info.fragments[selection.name.value]!;
    const condition = part.typeCondition?.name.value ?? type;
    return condition !== type || dependsOnType(part.selectionSet, info, type);
  });
}

/** Errors of subgraphs, then those of the projection. A null that a subgraph explains has no second error. */
export function formatProjection(
  { data, errors = [] }: ExecutionResult,
  subgraphErrors: readonly SubgraphError[],
  run: OperationRun,
  onBug: (error: Error) => void,
): object {
  const isExplained = createErrorCoverage(subgraphErrors);
  const own = errors.flatMap(error => {
    const { originalError: cause, path = [], message } = error as GraphQLError;
    if (cause && isNullError(cause)) return isExplained(path) ? [] : [{ message, path }];
    if (!cause || cause instanceof SourceError || cause.name === 'GraphQLError') return [{ message, path }];
    onBug(cause);
    return [{ message: maskedMessage, path }];
  });
  for (const error of own) run.chargeError(error);
  const all = [
    ...subgraphErrors.map(({ message, path, extensions }) => ({
      message,
      ...(path.length > 0 && { path }),
      ...(extensions && { extensions }),
    })),
    ...own,
  ];
  return { ...(all.length > 0 && { errors: all }), ...(data !== undefined && { data }) };
}

const isNullError = ({ message }: Error): boolean => message.startsWith('Cannot return null for non-nullable field');

/** True for a path at, below or above that of an error; an error without a path explains every null. */
function createErrorCoverage(errors: readonly SubgraphError[]): (path: readonly (string | number)[]) => boolean {
  const toKey = (path: readonly (string | number)[]) => JSON.stringify(path);
  const listPrefixes = (path: readonly (string | number)[]) => path.map((_step, at) => toKey(path.slice(0, at + 1)));
  const exact = new Set(errors.map(({ path }) => toKey(path)));
  const above = new Set(errors.flatMap(({ path }) => listPrefixes(path)));
  return path => exact.has('[]') || above.has(toKey(path)) || listPrefixes(path).some(key => exact.has(key));
}
