import { z } from 'zod';
import type { JsonObject } from '#base/json-tree.ts';
import { objectOrEmpty } from '#base/json-tree.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import { mcpServerName } from '../document-members.ts';
import { listOperations } from '../endpoints/paths.ts';
import { readToolSettings, toolNamePattern } from './rest-tools.ts';

const maxPrimitives = 500;
const maxTextLength = 10_000;
const text = z.string().max(maxTextLength);
const hint = z.boolean().optional();

const source = z
  .object({
    operationId: text.min(1).optional(),
    path: text.regex(/^\//, { error: 'must begin with /' }).optional(),
    method: z.string().max(20).optional(),
  })
  .refine(({ operationId, path, method }) => (operationId === undefined ? path && method : !path && !method), {
    error: 'must have operationId, or path and method',
  });

/** Members that `expand=true` adds to what is stored. */
const expandedToolMembers = [
  'inputSchema',
  'outputSchema',
  'parameterLocations',
  'parameterSourceNames',
  'parameterSerializations',
  'parameterOrder',
  'requestBodyContentType',
] as const;

const primitive = z.object({
  source,
  name: z.string().regex(toolNamePattern, { error: 'must have 1 to 128 letters, digits, _, . or -' }).optional(),
  description: text.optional(),
  annotations: z
    .object({
      title: text.optional(),
      readOnlyHint: hint,
      destructiveHint: hint,
      idempotentHint: hint,
      openWorldHint: hint,
    })
    .optional(),
  parameters: z
    .array(z.object({ param: text.min(1), name: text.min(1).optional(), description: text.optional() }))
    .max(maxPrimitives)
    .optional(),
  allow: z.boolean().optional(),
});

/** Names, descriptions and selection of the tools of an MCP proxy over a REST API. */
export const toolSettingsSchema = z.object({ primitives: z.array(primitive).max(maxPrimitives).optional() });

/** Document without the members that `expand=true` added: they follow from the REST API. */
export function omitExpandedMembers(document: JsonObject): JsonObject {
  const extension = objectOrEmpty(document[mcpServerName]);
  if (!Array.isArray(extension.primitives)) return document;
  const primitives = extension.primitives.map(given => {
    const kept = { ...objectOrEmpty(given) };
    for (const name of expandedToolMembers) delete kept[name];
    return kept;
  });
  return { ...document, [mcpServerName]: { ...extension, primitives } };
}

/** Identifies the operation of a tool. */
export const toSourceKey = ({ operationId, path, method }: JsonObject): string =>
  typeof operationId === 'string' ? operationId : `${String(method).toUpperCase()} ${String(path)}`;

/** Errors of the settings of tools against the document of the REST API: unknown operations, and repeated ones. */
export function checkToolSettings(extension: unknown, document: JsonObject): ValidationError[] {
  const operations = new Set(
    listOperations(document.paths).flatMap(({ id, path, method }) => [id, `${method} ${path}`]),
  );
  const [sources, names] = [new Set<string>(), new Set<unknown>()];
  return readToolSettings(extension).flatMap(({ settings, source: named }, at) => {
    const path = `${mcpServerName}.primitives[${at}]`;
    const key = toSourceKey(named);
    const errors: ValidationError[] = [];
    if (!operations.has(key)) errors.push({ path: `${path}.source`, message: 'the API has no such operation' });
    if (sources.has(key)) errors.push({ path: `${path}.source`, message: 'is the source of another entry' });
    if (settings.name !== undefined && names.has(settings.name))
      errors.push({ path: `${path}.name`, message: 'is the name of another entry' });
    sources.add(key);
    names.add(settings.name);
    return errors;
  });
}
