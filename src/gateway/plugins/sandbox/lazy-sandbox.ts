import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Loaded where scripts run on this thread: most run on workers. */
export const loadSandbox = (): typeof import('./sandbox.ts') => require('./sandbox.ts');
