import type { Model } from '#definition/model.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import type { DataGraph } from './data-graph.ts';
import { loadFederationEngine, loadGraphEngine } from './lazy-engine.ts';

type Services = Pick<PipelineServices, 'settings' | 'log' | 'secrets' | 'isContextName' | 'addressPolicies' | 'grants'>;

/** Data graph or supergraph of an API; undefined for any other. */
export function createDataGraph(model: Model, services: Services): DataGraph | undefined {
  const { enabled, executionMode } = model.graphql;
  if (!enabled) return undefined;
  if (executionMode === 'executionEngine') return loadGraphEngine().compileDataGraph(model, services);
  return executionMode === 'supergraph' ? loadSupergraphEngine().compileSupergraph(model, services) : undefined;
}

/** The query planner is native code: there is none for musl and Windows. */
function loadSupergraphEngine() {
  try {
    return loadFederationEngine();
  } catch (error) {
    if (!/native binding/i.test((error as Error).message)) throw error;
    throw new ApiCompileError('the query planner of supergraphs is not available on this platform');
  }
}
