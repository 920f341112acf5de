import { problems } from '#base/problems.ts';

export const problem = problems('graphql_schemas', {
  api_not_graphql: { status: 400, message: 'This API has no schema of its own: it is no GraphQL API, or a supergraph' },
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
