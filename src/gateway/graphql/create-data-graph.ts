import type { Model } from '#definition/model.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { DataGraph } from './data-graph.ts';
import { loadGraphEngine } from './lazy-engine.ts';

type Services = Pick<PipelineServices, 'settings' | 'log' | 'secrets' | 'isContextName'>;

/** Data graph of an API; undefined for any other. */
export const createDataGraph = (model: Model, services: Services): DataGraph | undefined =>
  model.graphql.enabled && model.graphql.executionMode === 'executionEngine'
    ? loadGraphEngine().compileDataGraph(model, services)
    : undefined;
