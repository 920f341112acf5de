import { type QueryPlan, QueryPlanner } from '@graphql-hive/router-query-planner';
import type { DocumentNode, OperationDefinitionNode } from 'graphql';
import { Abandoned, createFairQueue } from '#base/fair-queue.ts';
import type { SupergraphTypes } from '#languages/graphql/federation/supergraph-types.ts';
import { ApiCompileError } from '../../pipeline/step.ts';
import { SourceError } from '../engine/source-error.ts';
import { writePlannedDocument } from './planned-document.ts';

/** Finds the plan of a checked operation; undefined where nothing is to fetch. */
export type FindPlan = (
  document: DocumentNode,
  operation: OperationDefinitionNode,
  run: { readonly signal: AbortSignal },
) => Promise<QueryPlan | undefined> | QueryPlan | undefined;

export interface PlanOwner {
  readonly orgId: string;
  readonly apiId: string;
  readonly types: SupergraphTypes;
  /** Interfaces and unions with types that clients do not see. */
  readonly partlyHidden: ReadonlySet<string>;
  onFailure(error: Error): void;
}

/** Result of planning; a fault is kept, too. */
type Planned = { readonly plan: QueryPlan | undefined } | { readonly fault: string };

/** Plans kept with their documents, which the cache of documents bounds; larger ones are built for each request. */
const maxPlanLength = 262_144;
/** The planner notices it late: the size of operations is the first bound. */
const maxPlanningMs = 10_000;
const noLabels: Set<string> = new Set();
/**
 * Plans of a traffic thread, one at a time, in turns over organisations: the planner runs in the thread pool of the
 * process, which name resolution, files and cryptography share.
 */
const planning = createFairQueue(
  { maxRunning: 1, maxWaiting: 200 },
  () => new SourceError('too many operations wait for a query plan, try again later'),
);

/** Query planner of a supergraph. Plans live as long as the cached document that they are of. */
export function createQueryPlans(supergraphSdl: string, owner: PlanOwner): FindPlan {
  const { types, partlyHidden } = owner;
  const planner = createPlanner(supergraphSdl);
  const planned = new WeakMap<OperationDefinitionNode, Planned>();
  const requestPlan = createSharedPlanning(planner, owner);

  async function plan(...[document, operation, { signal }]: Parameters<FindPlan>) {
    const rootType = types.schema.getRootType(operation.operation)!.name;
    const named = { names: partlyHidden, rootType, findFieldType: types.findFieldType };
    const text = writePlannedDocument(document, operation, named);
    const built = text === undefined ? { plan: undefined } : await waitUnlessAborted(requestPlan(text, signal), signal);
    if (isKept(built)) planned.set(operation, built);
    return readPlan(built);
  }

  return (document, operation, run) => {
    const known = planned.get(operation);
    return known ? readPlan(known) : plan(document, operation, run);
  };
}

function readPlan(planned: Planned): QueryPlan | undefined {
  if ('fault' in planned) throw new SourceError(planned.fault);
  return planned.plan;
}

const isKept = (planned: Planned): boolean =>
  'fault' in planned || !planned.plan || JSON.stringify(planned.plan).length <= maxPlanLength;

/** Request coalescing: equal operations that wait for a plan wait for the same one. */
function createSharedPlanning(planner: QueryPlanner, { orgId, apiId, onFailure }: PlanOwner) {
  const pending = new Map<string, { readonly result: Promise<Planned>; readonly signals: AbortSignal[] }>();

  async function build(text: string): Promise<Planned> {
    // Not the signal of a request: others may wait for the plan.
    const signal = AbortSignal.timeout(maxPlanningMs);
    try {
      return { plan: await planner.planAsync(text, null, noLabels, 0, signal) };
    } catch (error) {
      onFailure(error as Error);
      const reason = signal.aborted ? 'the operation takes too long to plan' : undefined;
      return { fault: reason ?? 'the gateway has no query plan for this operation' };
    }
  }

  async function buildInTurn(text: string, isWanted: () => boolean): Promise<Planned> {
    try {
      return await planning.run({ client: orgId, account: apiId, isWanted }, () => build(text));
    } catch (error) {
      throw error instanceof Abandoned ? new SourceError('the operation took too long to plan') : error;
    } finally {
      pending.delete(text);
    }
  }

  return (text: string, signal: AbortSignal): Promise<Planned> => {
    const known = pending.get(text);
    known?.signals.push(signal);
    if (known) return known.result;
    const signals = [signal];
    const result = buildInTurn(text, () => signals.some(it => !it.aborted));
    pending.set(text, { result, signals });
    return result;
  };
}

/** The operation ends with its time limit, also where the plan that it waits for does not. */
function waitUnlessAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(new SourceError('the operation took too long to plan'));
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

function createPlanner(supergraphSdl: string): QueryPlanner {
  try {
    return new QueryPlanner(supergraphSdl);
  } catch (error) {
    throw new ApiCompileError(`the query planner refuses the supergraph: ${(error as Error).message}`);
  }
}
