import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Loaded by the first request to the tools of an API: every thread holds its own code. */
export const loadToolAdapter = (): typeof import('./adapter.ts') => require('./adapter.ts');
