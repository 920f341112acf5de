import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

export const loadMockResponse = (): typeof import('./mock-response.ts') => require('./mock-response.ts');
