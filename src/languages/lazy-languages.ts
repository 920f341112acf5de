import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Interpreters that are loaded on first use: few APIs have templates or filters, few organisations rules. */
export const loadGoTemplate = (): typeof import('./go-template/template.ts') => require('./go-template/template.ts');
export const loadJq = (): typeof import('./jq/jq.ts') => require('./jq/jq.ts');
export const loadRego = (): typeof import('./rego/rego.ts') => require('./rego/rego.ts');
export const loadGraphqlLanguage = (): typeof import('./graphql/graphql.ts') => require('./graphql/graphql.ts');
export const loadFederation = (): typeof import('./graphql/federation/federation.ts') =>
  require('./graphql/federation/federation.ts');
