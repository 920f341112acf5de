import { executeSync, type FieldNode, type SelectionSetNode } from 'graphql';
import type { CheckedDocument, DocumentFault } from './document.ts';
import { collectFragments } from './document-size.ts';
import { type AnalysedOperation, listFields } from './operations.ts';
import type { CompiledSchema } from './schema.ts';

/** Values of an introspection result: lists of types and fields multiply with each nested selection. */
const maxIntrospectionValues = 2_000_000;

/**
 * Estimate of an introspection result before it is computed: selected fields times the numbers of types and fields they
 * are selected of. A fault beyond the bound.
 */
export function findIntrospectionExcess(
  { population }: CompiledSchema,
  { document }: Pick<CheckedDocument, 'document'>,
  operation: AnalysedOperation,
): DocumentFault | undefined {
  const fragments = collectFragments(document);
  const estimate = (
    { selectionSet }: { readonly selectionSet?: SelectionSetNode | undefined },
    level: number,
  ): number =>
    selectionSet === undefined
      ? 0
      : listFields(selectionSet, fragments).reduce((sum, field) => {
          const below = Math.min(level + levelsOf(field), populations.length - 1);
          return sum + populations[below]! + estimate(field, below);
        }, 0);
  const populations = [1, ...population, population[2] * argumentsPerField];
  return estimate(operation.node, 0) > maxIntrospectionValues
    ? { kind: 'limit', errors: [{ message: 'the introspection query selects too many values' }] }
    : undefined;
}

/** Result of an operation that selects meta fields only, from the schema. */
export function introspect(
  compiled: CompiledSchema,
  { document }: CheckedDocument,
  operation: AnalysedOperation,
  variableValues: Readonly<Record<string, unknown>>,
): { readonly result: string } | DocumentFault {
  const excess = findIntrospectionExcess(compiled, { document }, operation);
  if (excess) return excess;
  const { schema } = compiled;
  const result = executeSync({ schema, document, operationName: operation.name || null, variableValues });
  return { result: JSON.stringify(result) };
}

/** Arguments and enum values count as one more level. */
const argumentsPerField = 4;
const listFieldNames: ReadonlySet<string> = new Set([
  'types',
  'directives',
  'fields',
  'inputFields',
  'interfaces',
  'possibleTypes',
  'enumValues',
  'args',
]);
const levelsOf = ({ name }: FieldNode): number => (listFieldNames.has(name.value) ? 1 : 0);
