import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The management server of the Model Context Protocol, which is off by default. */
export const loadManagementMcp = (): typeof import('./route.ts') => require('./route.ts');
