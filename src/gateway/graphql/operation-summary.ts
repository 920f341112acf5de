import type { AnalysedOperation } from '#languages/graphql/operations.ts';
import type { GraphqlOperation } from '../pipeline/exchange.ts';

/** Bounds of a record; a name has at most 256 characters, as every name of a document. */
const maxFields = 20;
const maxFieldCharacters = 128;

/** One summary for each analysed operation, which requests share. */
const summaries = new WeakMap<AnalysedOperation, GraphqlOperation>();

/** Summary of an operation for records of its request. */
export function summarizeOperation(operation: AnalysedOperation): GraphqlOperation {
  const known = summaries.get(operation);
  if (known) return known;
  const { name, type, rootFields } = operation;
  const summary = {
    name,
    type,
    fields: rootFields.slice(0, maxFields).map(it => it.name.slice(0, maxFieldCharacters)),
  };
  summaries.set(operation, summary);
  return summary;
}
