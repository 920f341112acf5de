import { type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { compareSpecificity, listOperations } from '#definition/endpoints/paths.ts';
import { BudgetExceeded, ValidationRun } from '#languages/json-schema/run.ts';
import { HeaderList } from '../http/headers.ts';
import { createEndpointMatcher, type Endpoint } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { StepContext } from '../pipeline/step.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import {
  collectParameters,
  compileParameterValidator,
  type ParameterSources,
  type ParameterValidator,
} from './parameter-validator.ts';
import { compilePathValues, type PathValues } from './path-values.ts';
import { readSchemaInfo } from './schema-info.ts';

/** An operation of the OpenAPI document, and what a step compiled from the definition for it. */
export interface Candidate<T> {
  /** Undefined for an operation without settings: it is a candidate so that it wins over others. */
  readonly compiled: T | undefined;
  readonly values: PathValues;
  readonly fits: (path: string) => boolean;
}

export interface DeclaredOperation {
  readonly item: JsonObject;
  readonly operation: JsonObject;
  readonly path: string;
}

interface OperationGroup<T> extends Endpoint {
  readonly candidates: readonly Candidate<T>[];
}

interface OperationEntry {
  readonly operationId?: string;
  readonly path: string;
}

/** `unfit` where several operations have paths of this shape and the path values are valid for none. */
export type FindOperation<T> = (call: Exchange) => Candidate<T> | 'unfit' | undefined;

/**
 * Matches a request to an operation. Operations whose paths differ in parameter names only are distinguished by the schemas
 * of their parameters, stricter first; a path without parameters wins over one with them.
 */
export function createOperationMatcher<E extends OperationEntry, T>(
  entries: readonly E[],
  document: OpenApiDocument,
  { model, version, services }: StepContext<Pick<PipelineServices, 'settings'>>,
  make: (entry: E, declared: DeclaredOperation) => T,
): FindOperation<T> | undefined {
  if (entries.length === 0) return undefined;
  const { settings } = services;
  const isStrict = settings['gateway.endpoint_match'] === 'strict';
  const byId = new Map(entries.map(entry => [entry.operationId, entry]));
  const groups = [...groupByShape(document, byId).values()].filter(
    group => group.some(({ entry }) => entry !== undefined) || !group[0]!.path.includes('{'),
  );
  const matched: OperationGroup<T>[] = groups
    .sort(([a], [b]) => compareSpecificity(a!.path, b!.path))
    .map(group => ({
      path: group[0]!.matched,
      method: group[0]!.method,
      candidates: group
        .map(it => ({
          compiled: it.entry && make(it.entry, it),
          ...(group.length > 1
            ? rankOperation(it, document, isStrict)
            : { ...soleCandidate, values: compilePathValues(it.path, isStrict) }),
        }))
        .sort(compareStrictness),
    }));
  const matcher = createEndpointMatcher(matched, { model, version, settings });
  return call => {
    const candidates = matcher?.find(call)?.candidates;
    if (!candidates) return undefined;
    if (candidates.length === 1) return candidates[0];
    return candidates.find(({ fits }) => fits(call.innerPath)) ?? 'unfit';
  };
}

interface PlacedOperation<E> extends DeclaredOperation {
  readonly method: string;
  /** The path requests are matched against: that of the definition, else that of the document. */
  readonly matched: string;
  readonly entry: E | undefined;
}

/** Groups the operations of the document by method and path shape. */
function groupByShape<E extends OperationEntry>(
  document: OpenApiDocument,
  byId: ReadonlyMap<string | undefined, E>,
): Map<string, PlacedOperation<E>[]> {
  const paths = objectOrEmpty(document.root.paths);
  const placed = listOperations(paths).map(({ id, path, method }) => {
    const item = document.dereference(paths[path]);
    const entry = byId.get(id);
    return {
      item,
      operation: objectOrEmpty(item[method.toLowerCase()]),
      path,
      method,
      entry,
      matched: entry?.path ?? path,
    };
  });
  return Map.groupBy(placed, ({ method, matched }) => `${method} ${matched.replaceAll(/\{[^{}]*\}/g, '{}')}`);
}

interface Rank {
  readonly path: string;
  readonly weight: number;
  readonly patternLength: number;
}

const soleCandidate = { path: '', weight: 0, patternLength: 0, fits: () => true };

const compareStrictness = (a: Rank, b: Rank) =>
  b.weight - a.weight || b.patternLength - a.patternLength || (a.path < b.path ? -1 : 1);

const weights: Readonly<Record<string, number>> = { integer: 7, number: 6, boolean: 5, array: 4, object: 3 };

function rankOperation({ item, operation, path }: DeclaredOperation, document: OpenApiDocument, isStrict: boolean) {
  const values = compilePathValues(path, isStrict);
  const inPath = collectParameters(item, operation, document).filter(it => it.in === 'path');
  const checks = inPath.map(it => compileParameterValidator(it, document));
  const schemas = inPath.map(it => document.dereference(it.schema));
  return {
    path,
    values,
    fits: (inner: string) => areAllValid(checks, values(inner)),
    weight: schemas.reduce((sum, schema) => sum + computeWeight(schema, document), 0),
    patternLength: schemas.reduce((sum, { pattern }) => sum + String(pattern ?? '').length, 0),
  };
}

function computeWeight(schema: JsonObject, document: OpenApiDocument): number {
  const [type = ''] = readSchemaInfo(schema, document).types;
  const isConstrained = ['pattern', 'enum', 'format', 'minLength', 'maxLength'].some(
    name => schema[name] !== undefined,
  );
  return weights[type] ?? (isConstrained ? 2 : 0);
}

const noHeaders = new HeaderList();
const noPairs = new Map<string, string[]>();

function areAllValid(checks: readonly ParameterValidator[], path: ParameterSources['path']): boolean {
  const run = new ValidationRun();
  try {
    return checks.every(check => check({ path, query: noPairs, headers: noHeaders, cookies: noPairs }, run));
  } catch (error) {
    if (error instanceof BudgetExceeded) return false;
    throw error;
  }
}
