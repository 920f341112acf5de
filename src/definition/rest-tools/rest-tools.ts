import type { JsonObject } from '#base/json-tree.ts';
import { arrayOrEmpty, isObject, objectOrEmpty, textOrEmpty } from '#base/json-tree.ts';
import { listOperations, type OasOperation } from '../endpoints/paths.ts';
import { dereference } from './inline-schema.ts';
import {
  type DescribedParameter,
  readOutputSchema,
  readParameters,
  readRequestBody,
  type SourceDocument,
} from './operation-parts.ts';
import { bodyArgument, type RestTool, type RestToolHints } from './rest-tool.ts';
import { createToolBudget, maxRestTools, ToolBoundsError } from './tool-bounds.ts';

export const toolNamePattern = /^[A-Za-z0-9_.-]{1,128}$/;

/** Access rules of the API, by operation id. */
export interface OperationAccess {
  readonly hidden: ReadonlySet<string>;
  /** Undefined without an allow list. */
  readonly allowed: ReadonlySet<string> | undefined;
}

/** Settings of one tool, as the extension writes them. */
interface Primitive {
  readonly source: JsonObject;
  readonly settings: JsonObject;
}

/**
 * Operations of an OpenAPI document as tools; those that are internal, blocked or not on the allow list are skipped.
 * Throws a `ToolBoundsError` for a document beyond the bounds.
 */
export function listRestTools(document: Readonly<JsonObject>, access: OperationAccess, extension: unknown): RestTool[] {
  const primitives = readToolSettings(extension);
  const isSelective = primitives.some(({ settings }) => settings.allow === true);
  const tools = new Map<string, RestTool>();
  const sourceDocument = { document, budget: createToolBudget() };
  for (const found of listOperations(document.paths)) {
    if (access.hidden.has(found.id) || (access.allowed && !access.allowed.has(found.id))) continue;
    const item = objectOrEmpty(objectOrEmpty(document.paths)[found.path]);
    const operation = objectOrEmpty(item[found.method.toLowerCase()]);
    const settings = findToolSettings(primitives, found, operation);
    if (isSelective && settings?.allow !== true) continue;
    const tool = buildRestTool(sourceDocument, { found, item, operation }, settings ?? {});
    if (!tool || tools.has(tool.name)) continue;
    if (tools.size >= maxRestTools) throw new ToolBoundsError(`are more than ${maxRestTools} tools`);
    tools.set(tool.name, tool);
  }
  return [...tools.values()];
}

export const readToolSettings = (extension: unknown): Primitive[] =>
  arrayOrEmpty(objectOrEmpty(extension).primitives)
    .filter(isObject)
    .map(settings => ({ settings, source: objectOrEmpty(settings.source) }));

function findToolSettings(
  primitives: readonly Primitive[],
  { path, method }: OasOperation,
  { operationId }: JsonObject,
): JsonObject | undefined {
  const isSource = ({ source }: Primitive) =>
    source.operationId === undefined
      ? source.path === path && textOrEmpty(source.method).toUpperCase() === method
      : source.operationId === operationId;
  return primitives.find(isSource)?.settings;
}

/** The operation id; without one, method and path in lower case with `_` for other characters. */
function toRestToolName({ operationId }: JsonObject, { path, method }: OasOperation): string {
  const named = textOrEmpty(operationId) || `${method}_${path}`.toLowerCase();
  const name = named.replaceAll(operationId ? /[^A-Za-z0-9_.-]/g : /[^a-z0-9]/g, '_');
  return (operationId ? name : name.replaceAll(/_+/g, '_').replace(/_$/, '')).slice(0, 128);
}

interface FoundOperation {
  readonly found: OasOperation;
  readonly item: JsonObject;
  readonly operation: JsonObject;
}

function buildRestTool(
  source: SourceDocument,
  { found, item, operation }: FoundOperation,
  settings: JsonObject,
): RestTool | undefined {
  const body = readRequestBody(source, operation);
  const parameters = readParameters(source, dereference(source.document, item) ?? item, operation);
  if (body === 'unsupported' || !parameters) return undefined;
  const renamed = renameParameters(parameters, arrayOrEmpty(settings.parameters).filter(isObject));
  const properties: JsonObject = Object.fromEntries(renamed.map(({ argument, schema }) => [argument, schema]));
  const required = renamed.filter(({ isRequired }) => isRequired).map(({ argument }) => argument);
  if (body) properties[bodyArgument] = body.schema;
  if (body?.isRequired) required.push(bodyArgument);
  const outputSchema = readOutputSchema(source, operation);
  const describe = textOrEmpty(settings.description) || textOrEmpty(operation.description);
  return {
    name: textOrEmpty(settings.name) || toRestToolName(operation, found),
    description: describe || textOrEmpty(operation.summary) || `${found.method} ${found.path}`,
    annotations: { ...toHints(found.method), ...(objectOrEmpty(settings.annotations) as Partial<RestToolHints>) },
    inputSchema: {
      type: 'object',
      properties,
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    },
    ...(outputSchema && { outputSchema }),
    operationId: found.id,
    method: found.method,
    path: found.path,
    parameters: renamed.map(({ schema: _schema, ...parameter }) => parameter),
    ...(body && {
      body: { contentType: body.contentType, encoding: body.encoding, isRequired: body.isRequired },
    }),
  };
}

/** Arguments under the names of the extension; a name that another argument has is left as it is. */
function renameParameters(parameters: readonly DescribedParameter[], renames: readonly JsonObject[]) {
  const taken = new Set([bodyArgument, ...parameters.map(({ argument }) => argument)]);
  return parameters.map(parameter => {
    const rename = renames.find(({ param }) => param === parameter.argument || param === parameter.name);
    if (!rename) return parameter;
    const name = textOrEmpty(rename.name);
    const isFree = name !== '' && name !== '__proto__' && !taken.has(name);
    if (isFree) taken.add(name);
    const description = textOrEmpty(rename.description);
    return {
      ...parameter,
      ...(isFree && { argument: name }),
      ...(description !== '' && { schema: { ...parameter.schema, description } }),
    };
  });
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);
const idempotentMethods = new Set(['PUT', 'DELETE']);

function toHints(method: string): RestToolHints {
  const isSafe = safeMethods.has(method);
  return {
    readOnlyHint: isSafe,
    destructiveHint: !isSafe,
    idempotentHint: isSafe || idempotentMethods.has(method),
  };
}
