import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Loaded with the first image: scripts start on workers. */
export const loadSandbox = (): typeof import('./sandbox.ts') => require('./sandbox.ts');
