/** GraphQL documents and schemas, behind one entry: `loadGraphqlLanguage` loads it with the package on first use. */

export { computeCost } from './cost.ts';
export {
  checkGraphqlDocument,
  coerceVariables,
  findSyntaxFault,
  selectOperation,
} from './document.ts';
export { findIntrospectionExcess, introspect } from './introspection.ts';
export { introspectionQuery, printIntrospection } from './introspection-result.ts';
export { checkGraphqlSchema, compileGraphqlSchema, InvalidGraphqlSchema } from './schema.ts';
export { findSchemaField } from './schema-fields.ts';
export { compileSubgraphSchema } from './subgraph.ts';
