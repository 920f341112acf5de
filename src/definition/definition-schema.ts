import { z } from 'zod';
import { publishMembers } from '#base/members-schema.ts';
import { classicSchema } from './classic.ts';
import { mcpSchema } from './mcp.ts';
import { primitiveMembers } from './mcp-names.ts';
import { oasSchema } from './oas.ts';
import type { ReferenceRow } from './reference-rows.ts';
import { listReferenceRows } from './reference-rows.ts';
import { streamsSchema } from './streams.ts';
import { anyName } from './wire-schema.ts';

/** Published JSON Schemas (draft 2020-12) with descriptions. Built once, on first use. */
export type JsonSchema = Record<string, unknown>;
export type SchemaName = 'classic' | 'oas' | 'streams' | 'mcp';

const sources: Record<SchemaName, z.ZodType> = {
  classic: classicSchema,
  oas: oasSchema,
  streams: streamsSchema,
  mcp: mcpSchema,
};
const titles: Record<SchemaName, string> = {
  classic: 'Classic API definition',
  oas: 'OpenAPI-based API definition',
  streams: 'Streams API definition',
  mcp: 'MCP proxy definition',
};
const operationsPlace = '.middleware.operations.';
const schemaCache = new Map<SchemaName, JsonSchema>();

export function definitionSchema(name: SchemaName): JsonSchema {
  const cached = schemaCache.get(name);
  if (cached) return cached;
  const schema = z.toJSONSchema(sources[name], {
    io: 'input',
    unrepresentable: 'any',
    override: publishMembers,
  }) as JsonSchema;
  schema.title = titles[name];
  for (const row of listReferenceRows()) {
    const path = name === 'classic' ? row.classic : row.oas && `x-gw-api-gateway.${row.oas}`;
    if (!path) continue;
    setDescription(schema, path, describeRow(row, name));
    if (name !== 'mcp' || !path.includes(operationsPlace)) continue;
    for (const member of Object.values(primitiveMembers))
      setDescription(schema, path.replace(operationsPlace, `.middleware.${member}.`), describeRow(row, name));
  }
  schemaCache.set(name, schema);
  return schema;
}

/** A member at the top level has no siblings to explain it, so its description includes that of its facet. */
function describeRow({ about, facetAbout, classic, opposite }: ReferenceRow, name: SchemaName): string {
  if (name !== 'classic') return about;
  const meaning = classic?.includes('.') ? about : `${facetAbout} ${about}`;
  return opposite === 'classic' ? `The opposite of: ${meaning}` : meaning;
}

/** Sets the description of the member at a path. */
function setDescription(schema: JsonSchema, path: string, about: string): void {
  let at: JsonSchema | undefined = schema;
  for (const segment of path.split('.')) {
    const name = segment.replace(/\[\]$/, '');
    at = at && stepInto(at, name);
    if (at && segment.endsWith('[]')) at = schemaWith(at, 'items')?.items as JsonSchema | undefined;
  }
  // Several rows may share a path: the first one describes it.
  if (at) at.description ??= about;
}

function stepInto(schema: JsonSchema, name: string): JsonSchema | undefined {
  if (name === anyName)
    return schemaWith(schema, 'additionalProperties')?.additionalProperties as JsonSchema | undefined;
  const properties = schemaWith(schema, 'properties')?.properties as Record<string, JsonSchema> | undefined;
  return properties?.[name];
}

/** A nullable member is an `anyOf` of null and its schema. */
function schemaWith(schema: JsonSchema, member: string): JsonSchema | undefined {
  if (typeof schema[member] === 'object') return schema;
  const choices = Array.isArray(schema.anyOf) ? (schema.anyOf as JsonSchema[]) : [];
  return choices.find(choice => typeof choice[member] === 'object');
}
