import { type QueryPlan, QueryPlanner } from '@graphql-hive/router-query-planner';
import type { DocumentNode, OperationDefinitionNode } from 'graphql';
import { ApiCompileError } from '../../pipeline/step.ts';
import { SourceError } from '../engine/source-error.ts';
import { writePlannedDocument } from './planned-document.ts';

/** Finds the plan of a checked operation; undefined where nothing is to fetch. */
export type FindPlan = (
  document: DocumentNode,
  operation: OperationDefinitionNode,
  run: { readonly signal: AbortSignal },
) => Promise<QueryPlan | undefined> | QueryPlan | undefined;

/** Plans kept with their documents, which the cache of documents bounds; larger ones are built for each request. */
const maxPlanLength = 262_144;
const noLabels: Set<string> = new Set();

/** Query planner of a supergraph. Plans live as long as the cached document that they are of. */
export function createQueryPlans(supergraphSdl: string, onFailure: (error: Error) => void): FindPlan {
  const planner = createPlanner(supergraphSdl);
  const plans = new WeakMap<OperationDefinitionNode, QueryPlan | { readonly isEmpty: true }>();

  async function planText(text: string, signal: AbortSignal): Promise<QueryPlan> {
    try {
      return await planner.planAsync(text, null, noLabels, 0, signal);
    } catch (error) {
      if (signal.aborted) throw new SourceError('the operation took too long to plan');
      onFailure(error as Error);
      throw new SourceError('the gateway has no query plan for this operation');
    }
  }

  async function plan(...[document, operation, { signal }]: Parameters<FindPlan>) {
    const text = writePlannedDocument(document, operation);
    if (text === undefined) {
      plans.set(operation, { isEmpty: true });
      return undefined;
    }
    const built = await planText(text, signal);
    if (JSON.stringify(built).length <= maxPlanLength) plans.set(operation, built);
    return built;
  }

  return (document, operation, run) => {
    const known = plans.get(operation);
    if (!known) return plan(document, operation, run);
    return 'isEmpty' in known ? undefined : known;
  };
}

function createPlanner(supergraphSdl: string): QueryPlanner {
  try {
    return new QueryPlanner(supergraphSdl);
  } catch (error) {
    throw new ApiCompileError(`the query planner refuses the supergraph: ${(error as Error).message}`);
  }
}
