import { z } from 'zod';
import { freeForm } from '#base/members.ts';
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
import type { CheckResult } from './validation-error.ts';
import { formatIssue, fromZodError } from './validation-error.ts';
import { buildWireSchema } from './wire-schema.ts';

/** The gateway's part, as it is on the wire. */
export interface GatewayExtension {
  info: {
    id?: string;
    dbId?: string;
    orgId?: string;
    name?: string;
    expiration?: string;
    state?: { active?: boolean; internal?: boolean; [member: string]: unknown } | null;
    versioning?: {
      enabled?: boolean;
      versions?: { name: string; id: string }[] | null;
      [member: string]: unknown;
    } | null;
    [member: string]: unknown;
  };
  server: {
    /** Services of bare connections have none. */
    listenPath?: { value: string; strip?: boolean; [member: string]: unknown };
    [member: string]: unknown;
  };
  upstream?: { url?: string; [member: string]: unknown } | null;
  middleware?: {
    global?: Record<string, unknown> | null;
    operations?: Record<string, Record<string, unknown> | null> | null;
    [member: string]: unknown;
  } | null;
  [member: string]: unknown;
}

export interface OasDefinition {
  openapi?: string;
  info?: { title?: string; version?: string; [member: string]: unknown };
  paths?: Record<string, Record<string, unknown>> | null;
  components?: { securitySchemes?: Record<string, Record<string, unknown>> | null; [member: string]: unknown } | null;
  security?: Record<string, string[]>[] | null;
  'x-gw-api-gateway': GatewayExtension;
  [member: string]: unknown;
}

/** OpenAPI's own objects are the author's: any member is fine there. */
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

/** Members that begin with `x-` are the author's own, as everywhere in a document. */
function checkPaths(paths: Record<string, unknown>, context: z.RefinementCtx): void {
  for (const [path, item] of Object.entries(paths)) {
    if (path.startsWith('x-')) continue;
    if (!path.startsWith('/')) context.addIssue({ code: 'custom', path: [path], message: 'must begin with /' });
    for (const issue of pathItem.safeParse(item).error?.issues ?? [])
      context.addIssue({ code: 'custom', path: [path, ...issue.path], message: formatIssue(issue) });
  }
}

/** What the gateway reads of the OpenAPI part; the rest of the document is the author's own. */
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

/** The rule of a request body that holds a whole document. */
export const oasSchema = open({
  ...openApiMembers,
  [extensionName]: extension,
}) as unknown as z.ZodType<OasDefinition>;

/** As above, with every OpenAPI member left to choice. */
export const looseDocumentSchema = open({
  openapi: openApiMembers.openapi.optional(),
  info: open({ title: z.string().optional(), version: z.string().optional() }).nullable().optional(),
  paths: openApiMembers.paths.nullable().optional(),
  servers: openApiMembers.servers,
  components: openApiMembers.components,
  security: openApiMembers.security,
  [extensionName]: extension,
});

/** Says everything that is wrong at once. What passes is the value that was given, without `null` for absent members. */
export function checkOas(given: unknown, unknownMembers: UnknownMembers = 'refuse'): CheckResult<OasDefinition> {
  const members = checkDocumentMembers(oasSchema, given, unknownMembers, findUnknownNames(given));
  const { value } = members;
  const parsed = oasSchema.safeParse(value);
  const faults = [...members.errors, ...(parsed.success ? [] : fromZodError(parsed.error))];
  if (isDocument(value)) {
    faults.push(...validatePaths(value), ...validateExtension(value));
    const isExcused = faults.length === 0 && !needsUpstream(oasToModel(value as OasDefinition));
    if (!isExcused) faults.push(...validateUpstream(value));
  }
  if (faults.length === 0)
    faults.push(...validateDocument(value as OasDefinition), ...validateOperationIds(value as OasDefinition));
  return toCheckResult(members, faults);
}

/** Whether there is a gateway's part to look into at all. */
export const isDocument = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && isObject((value as Record<string, unknown>)[extensionName]);

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
