import { z } from 'zod';
import { definitionSchema, type SchemaName } from '#definition/definition-schema.ts';
import { operation } from '#operations/operation.ts';
import { problem } from '../gw/problems.ts';

const declared = {
  surface: 'dashboard',
  noun: 'schemas',
  method: 'GET',
  permission: 'apis:read',
  offersPretty: true,
  problems: [problem.no_schema],
} as const;

const oasVersion = z.string().max(100).optional().describe('OpenAPI version; defaults to any');
const pretty = z.string().max(10).optional().describe('true indents the response');
const schemaQuery = z.object({ oasVersion, pretty });
const schemaResponse = z.object({ status: z.string(), message: z.string(), schema: z.looseObject({}) });

/** One schema covers all supported OpenAPI versions; others have none. */
export function ensureSchemaVersion(version = '', members: object = {}): void {
  if (version !== '' && !/^3\.[01](\.\d+)?$/.test(version)) throw problem.no_schema({ detail: { version, members } });
}

const defineSchema = <const Path extends string>({
  schema,
  ...endpoint
}: {
  readonly name: string;
  readonly path: Path;
  readonly about: string;
  schema: SchemaName;
}) =>
  operation({
    ...declared,
    ...endpoint,
    query: schemaQuery,
    returns: schemaResponse,
    async handle({ query: { oasVersion: version } }) {
      ensureSchemaVersion(version);
      return { status: 'ok', message: '', schema: definitionSchema(schema) };
    },
  });

export const getSchema = defineSchema({
  name: 'getSchema',
  path: '/api/schema',
  about: 'Returns the JSON Schema of an OpenAPI document with x-gw-api-gateway; the same as /api/schemas/apidefs/oas.',
  schema: 'oas',
});

export const getOasSchema = defineSchema({
  name: 'getOasSchema',
  path: '/api/schemas/apidefs/oas',
  about: 'Returns the JSON Schema of an OpenAPI document with x-gw-api-gateway.',
  schema: 'oas',
});

export const getClassicSchema = defineSchema({
  name: 'getClassicSchema',
  path: '/api/schemas/apidefs/classic',
  about: 'Returns the JSON Schema of an API definition in the classic format.',
  schema: 'classic',
});

export const getStreamsSchema = defineSchema({
  name: 'getStreamsSchema',
  path: '/api/schemas/apidefs/streams-oas',
  about: 'Returns the JSON Schema of the document of a streams API.',
  schema: 'streams',
});

export const getMcpSchema = operation({
  ...declared,
  name: 'getMcpSchema',
  path: '/api/schemas/apidefs/mcp',
  about: 'Returns the JSON Schema of the document of an MCP proxy.',
  query: z.object({
    mcpVersion: z.string().max(100).optional().describe('Version of the schema; defaults to the latest'),
    pretty,
  }),
  returns: z.looseObject({}),
  async handle({ query: { mcpVersion = '' } }) {
    ensureSchemaVersion(mcpVersion);
    return definitionSchema('mcp');
  },
});

export const listSchemas = operation({
  ...declared,
  name: 'listSchemas',
  path: '/api/schemas/apidefs',
  about: 'Returns the JSON Schemas of all documents that define an API.',
  query: schemaQuery,
  returns: z.object({
    status: z.string(),
    message: z.string(),
    schemas: z.object({ oas: z.looseObject({}), streamsOAS: z.looseObject({}), mcp: z.looseObject({}) }),
  }),
  async handle({ query: { oasVersion: version } }) {
    ensureSchemaVersion(version);
    const schemas = {
      oas: definitionSchema('oas'),
      streamsOAS: definitionSchema('streams'),
      mcp: definitionSchema('mcp'),
    };
    return { status: 'ok', message: '', schemas };
  },
});

export const schemaOperations = [
  getSchema,
  listSchemas,
  getClassicSchema,
  getOasSchema,
  getStreamsSchema,
  getMcpSchema,
];
