import type { DocumentNode, OperationDefinitionNode } from 'graphql';
import type { SupergraphTypes } from '#languages/graphql/federation/supergraph-types.ts';
import { loadFederation } from '#languages/lazy-languages.ts';

export type FindPlanExcess = (document: DocumentNode, operation: OperationDefinitionNode) => string | undefined;

/** Bound on the size of query plans. Counts live as long as the cached document that they are of. */
export function createPlanSize(types: SupergraphTypes, max: number): FindPlanExcess {
  const { countPlannedSelections } = loadFederation();
  const counts = new WeakMap<OperationDefinitionNode, number>();
  const message = `the operation has more than ${max} selections to plan, each counted for every type it may apply to`;
  return (document, operation) => {
    const count = counts.get(operation) ?? countPlannedSelections(types, document, operation, max);
    counts.set(operation, count);
    return count > max ? message : undefined;
  };
}
