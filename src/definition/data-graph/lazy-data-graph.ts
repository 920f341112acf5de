import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Checks of data graphs: loaded when the first one is written. */
export const loadDataGraphCheck = (): typeof import('./data-graph-check.ts') => require('./data-graph-check.ts');
