import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Interpreters that are loaded on first use: few APIs have templates or filters, and every thread holds its own code. */
export const loadGoTemplate = (): typeof import('./go-template/template.ts') => require('./go-template/template.ts');
export const loadJq = (): typeof import('./jq/jq.ts') => require('./jq/jq.ts');
