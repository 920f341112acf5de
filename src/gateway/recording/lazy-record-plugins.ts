import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Loaded by the first record of an API with a plugin of records. */
export const loadRecordPlugins = (): typeof import('./record-plugins.ts') => require('./record-plugins.ts');
export const loadRecordMembers = (): typeof import('./record-members.ts') => require('./record-members.ts');
