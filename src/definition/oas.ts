import { z } from 'zod';
import { methods } from './endpoints/paths.ts';
import type { Checked, Fault } from './faults.ts';
import { faultsOf, messageOf } from './faults.ts';
import { documentLaws, extensionLaws, operationLaws, pathsLaw } from './oas-laws.ts';
import { schemaOf } from './wire-schema.ts';

/** The member of an OpenAPI document that is the gateway's. */
export const extensionName = 'x-gw-api-gateway';

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

const texts = z.array(z.string()).nullable();
const objectMap = z.record(z.string(), z.looseObject({}));
const operation = z.looseObject({
  operationId: z.string().nullable().optional(),
  summary: z.string().nullable().optional(),
  tags: texts.optional(),
  parameters: z.array(z.looseObject({})).nullable().optional(),
  requestBody: z.looseObject({}).nullable().optional(),
  responses: z.looseObject({}).nullable().optional(),
});

const pathItem = z.looseObject({
  ...Object.fromEntries(methods.map(method => [method, operation.optional()])),
  parameters: z.array(z.looseObject({})).nullable().optional(),
});

/** Members that begin with `x-` are the author's own, as everywhere in a document. */
function checkPaths(paths: Record<string, unknown>, context: z.RefinementCtx): void {
  for (const [path, item] of Object.entries(paths)) {
    if (path.startsWith('x-')) continue;
    if (!path.startsWith('/')) context.addIssue({ code: 'custom', path: [path], message: 'must begin with /' });
    for (const issue of pathItem.safeParse(item).error?.issues ?? [])
      context.addIssue({ code: 'custom', path: [path, ...issue.path], message: messageOf(issue) });
  }
}

/** What the gateway reads of the OpenAPI part; the rest of the document is the author's own. */
const openApiMembers = {
  openapi: z.string().regex(/^3\.[01]\.\d+/, { error: 'must be an OpenAPI version 3.0 or 3.1' }),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.looseObject({}).superRefine(checkPaths).optional(),
  servers: z
    .array(z.looseObject({ url: z.string() }))
    .nullable()
    .optional(),
  components: z
    .looseObject({
      securitySchemes: objectMap.nullable().optional(),
      schemas: z.looseObject({}).nullable().optional(),
    })
    .nullable()
    .optional(),
  security: z.array(z.record(z.string(), texts)).nullable().optional(),
};

const extension = schemaOf('oas');

/** The rule of a request body that holds a whole document. */
export const oasSchema = z.looseObject({
  ...openApiMembers,
  [extensionName]: extension,
}) as unknown as z.ZodType<OasDefinition>;

/** As above, with every OpenAPI member left to choice. */
export const looseDocumentSchema = z.looseObject({
  openapi: openApiMembers.openapi.optional(),
  info: z.looseObject({ title: z.string().optional(), version: z.string().optional() }).nullable().optional(),
  paths: openApiMembers.paths.nullable().optional(),
  servers: openApiMembers.servers,
  components: openApiMembers.components,
  security: openApiMembers.security,
  [extensionName]: extension,
});

/** Says everything that is wrong at once. What passes is the very value that was given. */
export function checkOas(value: unknown): Checked<OasDefinition> {
  const parsed = oasSchema.safeParse(value);
  const faults: Fault[] = parsed.success ? [] : faultsOf(parsed.error);
  if (isDocument(value)) faults.push(...pathsLaw(value), ...extensionLaws(value, { upstream: true }));
  if (faults.length === 0)
    faults.push(...documentLaws(value as OasDefinition), ...operationLaws(value as OasDefinition));
  return faults.length > 0 ? { ok: false, faults } : { ok: true, definition: value as OasDefinition };
}

/** Whether there is a gateway's part to look into at all. */
export const isDocument = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && isObject((value as Record<string, unknown>)[extensionName]);

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
