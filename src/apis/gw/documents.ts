import { z } from 'zod';
import { isObject } from '#base/json-tree.ts';
import type { CheckResult } from '#definition/check-result.ts';
import { extensionName, streamingName } from '#definition/document-members.ts';
import type { ImportOptions } from '#definition/import-options.ts';
import { toPublicDocument } from '#definition/oas-export.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { buildApiAddress } from '../api/api-address.ts';
import { type ApiServices, type CheckedDefinition, checkDefinition } from '../api/changes.ts';
import type { StoredApi } from '../api/schema.ts';
import type { ApiStore } from '../api/store.ts';
import { problem as apisProblem } from '../problems.ts';
import { requireApi } from './changes.ts';
import { problem } from './problems.ts';

export type DocumentApi = Extract<StoredApi, { kind: 'oas' | 'streams' }>;

/** MCP proxies have operations of their own. */
export const isDocumentApi = (api: StoredApi): api is DocumentApi => api.kind === 'oas' || api.kind === 'streams';

export async function requireDocument(apis: ApiStore, ref: string): Promise<DocumentApi> {
  const api = await requireApi(apis, ref);
  if (api.kind === 'mcp') throw apisProblem.api_not_found();
  if (!isDocumentApi(api)) throw problem.is_classic();
  return api;
}

/** Swagger 2.0 differs throughout: an OpenAPI 3 check would report members it never has. */
export function rejectSwagger(body: unknown): void {
  if (!isObject(body) || body.openapi !== undefined || body.swagger === undefined) return;
  const version = typeof body.swagger === 'string' ? body.swagger.slice(0, 10) : '2.0';
  throw createInvalidProblem([
    { path: 'swagger', message: `this is Swagger ${version}: convert it to OpenAPI 3 first` },
  ]);
}

/** Checks a document with the gateway's extension; one with streams by the rules of streams. */
export function checkDocument(body: unknown, services: Pick<ApiServices, 'settings'>): CheckedDefinition {
  rejectSwagger(body);
  if (isObject(body) && body[extensionName] === undefined) throw problem.extension_missing();
  return checkDefinition(isObject(body) && streamingName in body ? 'streams' : 'oas', body, services);
}

/** Checks a document that an import or a patch built. */
export function checkBuiltDocument(
  result: CheckResult<unknown>,
  services: Pick<ApiServices, 'settings'>,
): CheckedDefinition {
  if (!result.ok) throw createInvalidProblem(result.errors);
  return checkDocument(result.definition, services);
}

export const modeQuery = z.object({
  mode: z.string().max(100).optional().describe('public omits the extensions of the gateway'),
});
export const isPublic = ({ mode }: z.output<typeof modeQuery>): boolean => mode === 'public';

/** Document as written, or its public form. */
export function toDocumentView(api: DocumentApi, asPublic: boolean, gateway: URL): Record<string, unknown> {
  if (!asPublic) return api.definition;
  const isReached = api.summary.listen_path !== '' && !api.summary.api_types.includes('tcp');
  return toPublicDocument(api.definition, isReached ? [buildApiAddress(api, gateway).ApiURL] : []);
}

const booleanWords = new Map(
  [true, false].flatMap(value => (value ? ['1', 't', 'true'] : ['0', 'f', 'false']).map(word => [word, value])),
);
const lowerCaseText = z.string().toLowerCase();
const optionalBoolean = lowerCaseText
  .pipe(z.enum(['1', 't', 'true', '0', 'f', 'false', '']))
  .transform(word => booleanWords.get(word))
  .optional();
const text = (maxLength: number) => z.string().trim().max(maxLength).optional();

/** Import options in the query, beside a plain document. */
export const configurationQuery = z.object({
  upstreamURL: text(2000).describe('Upstream URL; defaults to the first server of the document'),
  listenPath: text(500).describe('Listen path of the API'),
  customDomain: text(253).describe('Custom domain of the API'),
  authentication: lowerCaseText
    .pipe(z.enum(['1', 't', 'true', '0', 'f', 'false', 'compliant', '']))
    .optional()
    .describe('Enables the security schemes of the document; compliant supports alternatives too'),
  securityProcessingMode: z
    .enum(['legacy', 'compliant', ''])
    .optional()
    .describe('Enables alternative security requirements'),
  allowList: optionalBoolean.describe('Allows only the operations of the document'),
  validateRequest: optionalBoolean.describe('Validates requests against the document, where it has schemas'),
  mockResponse: optionalBoolean.describe('Enables mock responses from the examples of the document, where it has any'),
});
type ConfigurationQuery = z.output<typeof configurationQuery>;

/** Empty texts count as absent. */
export function toImportOptions({
  authentication,
  securityProcessingMode,
  ...query
}: ConfigurationQuery): ImportOptions {
  const compliant = authentication === 'compliant';
  return {
    upstreamURL: query.upstreamURL || undefined,
    listenPath: query.listenPath || undefined,
    customDomain: query.customDomain || undefined,
    authentication: compliant ? true : booleanWords.get(authentication ?? ''),
    securityProcessingMode: securityProcessingMode || (compliant ? 'compliant' : undefined),
    allowList: query.allowList,
    validateRequest: query.validateRequest,
    mockResponse: query.mockResponse,
  };
}
