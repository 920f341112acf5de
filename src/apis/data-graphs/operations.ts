import { z } from 'zod';
import type { OutboundClient } from '#base/http-client/client.ts';
import { type JsonObject, objectOrEmpty, textOrEmpty } from '#base/json-tree.ts';
import { freeForm } from '#base/members.ts';
import { operation } from '#operations/operation.ts';
import { createdResponse, toCreated, toWarningsMember } from '#operations/shapes.ts';
import { problem as people } from '#people/problems.ts';
import { type ApiServices, addApi, checkDefinition } from '../api/changes.ts';
import { problem as convertProblem } from '../convert/problems.ts';
import { fetchProblems, readDocument } from '../oas/plain-document.ts';
import { problem as apisProblem } from '../problems.ts';
import type { ImportedGraph } from './openapi-graph.ts';
import { problem } from './problems.ts';

export interface GraphImportServices extends ApiServices {
  outbound: OutboundClient;
}

const example = {
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1.0.0' },
  servers: [{ url: 'https://orders.example' }],
  paths: { '/orders': { get: { operationId: 'orders', responses: { 200: { description: 'All orders' } } } } },
};

export const importDataGraph = operation({
  surface: 'dashboard',
  noun: 'apis',
  name: 'importDataGraph',
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  path: '/api/data-graphs/data-sources/import',
  about:
    'Creates a data graph from an OpenAPI or AsyncAPI document, sent as JSON, YAML, a file or {"url": …}: each operation is a field with a REST source, each Kafka channel that clients receive messages of a field of Subscription. The graph needs keys (auth token).',
  permission: 'apis:write',
  query: z.object({
    listenPath: z.string().max(500).optional().describe('Listen path; made of the title if empty'),
  }),
  body: freeForm(z.looseObject({})),
  example,
  accepts: 'document',
  returns: createdResponse,
  problems: [
    problem.document_invalid,
    problem.document_unsupported,
    convertProblem.text_invalid,
    people.limit_reached,
    apisProblem.path_exists,
    apisProblem.route_taken,
    apisProblem.too_many_routes,
    apisProblem.path_not_granted,
    apisProblem.name_taken,
    ...fetchProblems,
  ],
  async handle({ actor, query, body, audit }, services: GraphImportServices) {
    const document = objectOrEmpty(await readDocument(body, actor.orgId, services));
    const { definition, warnings } = await buildDefinition(document, query.listenPath ?? '');
    const written = checkDefinition('classic', definition, services);
    const api = await addApi(services, { actor, orgId: actor.orgId, written });
    audit(api.api_id);
    const all = { warnings: [...warnings, ...(written.warnings ?? [])] };
    return { ...toCreated('Data source imported', api.id, api.api_id), ...toWarningsMember(all) };
  },
});

async function buildDefinition(document: JsonObject, listenPath: string) {
  const { title, schema, dataSources, fieldConfigs, warnings } = await convertDocument(document);
  const words = title
    .toLowerCase()
    .slice(0, 100)
    .match(/[a-z0-9]+/g) ?? ['graph'];
  const definition = {
    name: title.replaceAll('#', ' ').slice(0, 200),
    active: true,
    use_standard_auth: true,
    auth: { auth_header_name: 'Authorization' },
    proxy: { listen_path: listenPath || `/${words.join('-')}/`, target_url: '', strip_listen_path: true },
    graphql: {
      enabled: true,
      execution_mode: 'executionEngine',
      version: '2',
      schema,
      engine: { data_sources: dataSources, field_configs: fieldConfigs, global_headers: [] },
    },
  };
  return { definition, warnings };
}

/** Converters are loaded on first use: few processes ever import. */
async function convertDocument(document: JsonObject): Promise<ImportedGraph> {
  if (document.asyncapi !== undefined) return (await import('./asyncapi-graph.ts')).convertEventsToGraph(document);
  const { convertToGraph } = await import('./openapi-graph.ts');
  if (document.swagger !== undefined) {
    const converted = (await import('../convert/swagger.ts')).convertSwagger(document);
    const graph = convertToGraph(converted.document);
    return { ...graph, warnings: [...converted.warnings, ...graph.warnings] };
  }
  if (textOrEmpty(document.openapi) !== '') return convertToGraph(document);
  throw problem.document_unsupported({ detail: { reason: 'is no OpenAPI 3, Swagger 2.0 or AsyncAPI document' } });
}

export const dataGraphOperations = [importDataGraph];
