import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Engine of data graphs: loaded with the first API that has one. */
export const loadGraphEngine = (): typeof import('./engine/compile-data-graph.ts') =>
  require('./engine/compile-data-graph.ts');

/** Engine of supergraphs, with its query planner: loaded with the first API that is one. */
export const loadFederationEngine = (): typeof import('./federation/compile-supergraph.ts') =>
  require('./federation/compile-supergraph.ts');
