import { problems } from '#base/problems.ts';

export const problem = problems('graphql_schemas', {
  api_not_graphql: { status: 400, message: 'This API has no schema of its own: it is no GraphQL API, or a supergraph' },
  api_without_graphql: { status: 400, message: 'This API is no GraphQL API' },
  api_not_supergraph: { status: 400, message: 'This API has no subgraphs: it is no GraphQL supergraph' },
  subgraph_unknown: { status: 400, message: 'The supergraph has no subgraph with the name {name}' },
  subgraphs_not_fetched: { status: 502, message: 'The supergraph is unchanged: {reasons}' },
  source_ambiguous: { status: 400, message: 'Send one of sdl, introspection and url, or none to use the upstream' },
  upstream_missing: {
    status: 400,
    message: 'The API has no upstream with http or https: send sdl, introspection or url',
  },
  schema_invalid: { status: 400, message: 'The schema of the API is unchanged, the new one is invalid: {reason}' },
  introspection_failed: {
    status: 502,
    message: 'The schema of the API is unchanged, the GraphQL server {reason}',
  },
});
