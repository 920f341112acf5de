import { z } from 'zod';
import { formatIsoTime } from '#base/clock.ts';
import { outboundProblem } from '#base/http-client/problems.ts';
import { type JsonObject, objectOrEmpty, textOrEmpty } from '#base/json-tree.ts';
import { freeForm } from '#base/members.ts';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import type { Meta } from '#storage/meta.ts';
import { type ApiServices, changeApi, checkDefinition } from '../api/changes.ts';
import type { StoredApi } from '../api/schema.ts';
import { problem as apisProblem } from '../problems.ts';
import { readClientSchema } from './client-schema.ts';
import { problem } from './problems.ts';
import { readSchemaInterval } from './schema-interval.ts';
import { readGivenSchema, type SchemaSourceServices } from './schema-source.ts';
import { createUpdateResults } from './schema-update-results.ts';
import { updateSubgraphs } from './subgraph-operations.ts';

const maxSchemaLength = 5_000_000;

export const updateGraphqlSchema = operation({
  surface: 'dashboard',
  noun: 'apis',
  name: 'updateGraphqlSchema',
  method: 'POST',
  changesTraffic: true,
  path: '/api/apis/{apiId}/graphql/schema',
  about:
    'Replaces the schema of a GraphQL API: by SDL, by an introspection result, or by introspection of its upstream (or of url) with proxy.auth_headers. On an error the schema does not change.',
  permission: 'apis:write',
  params: z.object({ apiId: z.string().describe('Public or database id of the API') }),
  body: z.object({
    sdl: z.string().min(1).max(maxSchemaLength).optional().describe('Schema definition language'),
    introspection: freeForm(z.looseObject({})).optional().describe('Result of an introspection query'),
    url: z.string().max(2000).optional().describe('GraphQL server, if it is not the upstream of the API'),
  }),
  example: { sdl: 'type Query { hello: String }' },
  returns: statusResponse.extend({
    changed: z.boolean().describe('The schema differs from the one before'),
    schema: z.string().describe('The schema of the API now'),
  }),
  problems: [
    apisProblem.definition_not_found,
    apisProblem.api_not_owned,
    problem.api_not_graphql,
    problem.source_ambiguous,
    problem.upstream_missing,
    problem.schema_invalid,
    problem.introspection_failed,
    outboundProblem.bad_url,
    outboundProblem.bad_scheme,
    outboundProblem.credentials_in_url,
    outboundProblem.bad_request,
    outboundProblem.refused,
    outboundProblem.refused_address,
    outboundProblem.unknown_host,
    outboundProblem.unreachable,
    outboundProblem.too_large,
    outboundProblem.undecodable,
    outboundProblem.timed_out,
    outboundProblem.too_busy,
  ],
  async handle({ actor, params: { apiId }, body, audit }, services: ApiServices & SchemaSourceServices) {
    audit(apiId);
    const stored = await services.apis.get(actor.orgId, apiId);
    if (!stored) throw apisProblem.definition_not_found();
    const hidden = await services.ownership.hiddenApis(actor);
    if (hidden.some(({ id }) => id === stored.id)) throw apisProblem.api_not_owned();
    const schema = await readGivenSchema(body, requireGraphql(stored), actor.orgId, services);
    let changed = false;
    const api = await changeApi(services, { actor, orgId: actor.orgId, ref: apiId }, before => {
      const definition = requireGraphql(before);
      const graphql = objectOrEmpty(definition.graphql);
      changed = graphql.schema !== schema;
      const last_schema_update = formatIsoTime(services.clock.now());
      const next = { ...definition, graphql: { ...graphql, schema, last_schema_update } };
      return { ...checkDefinition('classic', next, services), wrapper: before.wrapper };
    });
    audit(api.api_id);
    return { ...toStatus('Schema updated', api.id), changed, schema };
  },
});

export const getGraphqlSchema = operation({
  surface: 'dashboard',
  noun: 'apis',
  name: 'getGraphqlSchema',
  method: 'GET',
  path: '/api/apis/{apiId}/graphql/schema',
  about: 'Reads the schema of a GraphQL API, and the result of its last update by schema_updates.interval_seconds.',
  permission: 'apis:read',
  params: z.object({ apiId: z.string().describe('Public or database id of the API') }),
  returns: z.object({
    schema: z.string().describe('Schema in the definition'),
    client_schema: z
      .string()
      .describe('Schema that clients see; of a supergraph the composed one, and empty where it has none'),
    last_schema_update: z.string().describe('Time of the last change of the schema; empty without one'),
    interval_seconds: z.number().describe('Interval of updates; 0 for none'),
    checked_at: z.string().describe('Time of the last update by the interval; empty before the first one'),
    error: z.string().describe('Why the last update by the interval failed; empty if it did not'),
  }),
  problems: [apisProblem.definition_not_found, apisProblem.api_not_owned, problem.api_without_graphql],
  async handle({ actor, params: { apiId } }, services: ApiServices & { meta: Meta }) {
    const stored = await services.apis.get(actor.orgId, apiId);
    if (!stored) throw apisProblem.definition_not_found();
    const hidden = await services.ownership.hiddenApis(actor);
    if (hidden.some(({ id }) => id === stored.id)) throw apisProblem.api_not_owned();
    const definition = stored.definition as JsonObject;
    const graphql = objectOrEmpty(definition.graphql);
    if (stored.kind !== 'classic' || graphql.enabled !== true) throw problem.api_without_graphql();
    const result = (await createUpdateResults(services.meta).read())[stored.id];
    return {
      schema: textOrEmpty(graphql.schema),
      client_schema: readClientSchema(definition),
      last_schema_update: textOrEmpty(graphql.last_schema_update),
      interval_seconds: readSchemaInterval(definition),
      checked_at: result?.checked_at ?? '',
      error: result?.error ?? '',
    };
  },
});

/** The definition of an API with a schema of its own. */
function requireGraphql({ kind, definition }: StoredApi): JsonObject {
  const { graphql } = definition as JsonObject;
  const { enabled, execution_mode: mode } = objectOrEmpty(graphql);
  if (kind !== 'classic' || enabled !== true || mode === 'supergraph') throw problem.api_not_graphql();
  return definition as JsonObject;
}

export const graphqlSchemaOperations = [getGraphqlSchema, updateGraphqlSchema, updateSubgraphs];
