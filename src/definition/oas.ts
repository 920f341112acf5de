import { z } from 'zod';
import { isObject, objectOrEmpty } from '#base/json-tree.ts';
import { freeForm } from '#base/members.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import type { CheckResult } from './check-result.ts';
import { formatIssue, fromZodError } from './check-result.ts';
import { checkDocumentMembers, extensionName } from './document-members.ts';
import { findUnknownNames } from './document-names.ts';
import { methods } from './endpoints/paths.ts';
import type { UnknownMembers } from './members.ts';
import { toCheckResult } from './members.ts';
import { oasToModel } from './model.ts';
import {
  validateDocument,
  validateExtension,
  validateOperationIds,
  validatePaths,
  validateUpstream,
} from './oas-validation.ts';
import { needsUpstream } from './required-parts.ts';
import { buildWireSchema } from './wire-schema.ts';
import type { OasDefinition } from './wire-types.ts';

/** OpenAPI's own objects allow any member. */
const open = (shape: z.ZodRawShape) => freeForm(z.looseObject(shape));
const anyObject = open({});
const texts = z.array(z.string()).nullable();
const objectMap = z.record(z.string(), anyObject);
const operation = open({
  operationId: z.string().nullable().optional(),
  summary: z.string().nullable().optional(),
  tags: texts.optional(),
  parameters: z.array(anyObject).nullable().optional(),
  requestBody: anyObject.nullable().optional(),
  responses: anyObject.nullable().optional(),
});

const pathItem = open({
  ...Object.fromEntries(methods.map(method => [method, operation.optional()])),
  parameters: z.array(anyObject).nullable().optional(),
});

/** Members that begin with `x-` are extensions, which the gateway ignores. */
function checkPaths(paths: Record<string, unknown>, context: z.RefinementCtx): void {
  for (const [path, item] of Object.entries(paths)) {
    if (path.startsWith('x-')) continue;
    if (!path.startsWith('/')) context.addIssue({ code: 'custom', path: [path], message: 'must begin with /' });
    for (const issue of pathItem.safeParse(item).error?.issues ?? [])
      context.addIssue({ code: 'custom', path: [path, ...issue.path], message: formatIssue(issue) });
  }
}

/** OpenAPI members that the gateway reads; the rest of the document is free. */
const openApiMembers = {
  openapi: z.string().regex(/^3\.[01]\.\d+/, { error: 'must be an OpenAPI version 3.0 or 3.1' }),
  info: open({ title: z.string(), version: z.string() }),
  paths: anyObject.superRefine(checkPaths).optional(),
  servers: z
    .array(open({ url: z.string() }))
    .nullable()
    .optional(),
  components: open({
    securitySchemes: objectMap.nullable().optional(),
    schemas: anyObject.nullable().optional(),
  })
    .nullable()
    .optional(),
  security: z.array(z.record(z.string(), texts)).nullable().optional(),
};

const extension = buildWireSchema('oas');

/** Schema of a whole document with a gateway extension. */
export const buildDocumentSchema = (gatewayExtension: z.ZodType): z.ZodType<OasDefinition> =>
  open({ ...openApiMembers, [extensionName]: gatewayExtension }) as unknown as z.ZodType<OasDefinition>;

/** Schema of a request body with a whole document. */
export const oasSchema = buildDocumentSchema(extension);

/** The same with every OpenAPI member optional. */
export const looseDocumentSchema = open({
  openapi: openApiMembers.openapi.optional(),
  info: open({ title: z.string().optional(), version: z.string().optional() }).nullable().optional(),
  paths: openApiMembers.paths.nullable().optional(),
  servers: openApiMembers.servers,
  components: openApiMembers.components,
  security: openApiMembers.security,
  [extensionName]: extension,
});

/** Checks a document and reports all errors at once. Returns the value as given, without `null` for absent members. */
export const checkOas = (document: unknown, unknownMembers: UnknownMembers = 'refuse'): CheckResult<OasDefinition> =>
  checkDocumentWith(oasSchema, document, unknownMembers, isDocument(document) ? rejectMcpMarker(document) : []);

/** Checks a document against the schema of its kind; `more` are errors of that kind. */
export function checkDocumentWith(
  schema: z.ZodType<OasDefinition>,
  document: unknown,
  unknownMembers: UnknownMembers,
  more: readonly ValidationError[] = [],
): CheckResult<OasDefinition> {
  const members = checkDocumentMembers(schema, document, unknownMembers, findUnknownNames(document));
  const { value } = members;
  const parsed = schema.safeParse(value);
  const errors = [...members.errors, ...more, ...(parsed.success ? [] : fromZodError(parsed.error))];
  if (isDocument(value)) {
    errors.push(...validatePaths(value), ...validateExtension(value));
    const isExcused = errors.length === 0 && !needsUpstream(oasToModel(value as OasDefinition));
    if (!isExcused) errors.push(...validateUpstream(value));
  }
  if (errors.length === 0)
    errors.push(...validateDocument(value as OasDefinition), ...validateOperationIds(value as OasDefinition));
  return toCheckResult(members, errors);
}

/** True where there is a gateway extension to look into. */
export const isDocument = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && isObject(value[extensionName]);

/** An MCP proxy has operations, a schema and a permission of its own. */
export function rejectMcpMarker(document: Record<string, unknown>): ValidationError[] {
  const { applicationProtocol } = objectOrEmpty(objectOrEmpty(document[extensionName]).info);
  if (typeof applicationProtocol !== 'string' || applicationProtocol === '') return [];
  const path = `${extensionName}.info.applicationProtocol`;
  return [{ path, message: 'must be empty: MCP proxies are sent to /api/mcps or /gw/mcps' }];
}
