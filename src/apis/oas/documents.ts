import { isObject } from '#base/json-tree.ts';
import type { CheckResult } from '#definition/check-result.ts';
import { extensionName, streamingName } from '#definition/document-members.ts';
import type { OperationCall } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import type { ApiServices, CheckedDefinition } from '../api/changes.ts';
import type { StoredApi } from '../api/schema.ts';
import type { ApiStore } from '../api/store.ts';
import { checkDocument, type DocumentApi, isDocumentApi } from '../gw/documents.ts';
import { problem as gwProblem } from '../gw/problems.ts';
import { problem } from '../problems.ts';

/** Lookup and checks of the dashboard operations on OpenAPI documents. */

export type OasApi = Extract<StoredApi, { kind: 'oas' }>;
type Call = Pick<OperationCall<{ apiId: string }, unknown, unknown>, 'actor' | 'params'>;

/** API of the caller's organisation that is written as a document, with or without streams. */
export async function requireOwnDocument(apis: ApiStore, { actor, params }: Call): Promise<DocumentApi> {
  const api = await apis.get(actor.orgId, params.apiId);
  if (!api || api.kind === 'mcp') throw problem.detail_not_found();
  if (!isDocumentApi(api)) throw gwProblem.is_classic();
  return api;
}

/** Rejects a change of an API that has operations of its own: a classic one, or one with streams. */
export function ensureOas(api: StoredApi): asserts api is OasApi {
  if (api.kind === 'classic') throw gwProblem.is_classic();
  if (api.kind === 'mcp') throw problem.definition_not_found();
  if (api.kind === 'streams') throw problem.is_streams({ detail: { id: api.api_id } });
}

/** Checks a document with the gateway's extension and without streams. */
export function checkOasDocument(body: unknown, services: Pick<ApiServices, 'settings'>): CheckedDefinition<'oas'> {
  if (isObject(body) && streamingName in body)
    throw createInvalidProblem([{ path: streamingName, message: 'is sent to /api/apis/streams' }]);
  return checkDocument(body, services) as CheckedDefinition<'oas'>;
}

/** Checks a document that an import or a patch built. */
export function checkBuiltOas(
  result: CheckResult<unknown>,
  services: Pick<ApiServices, 'settings'>,
): CheckedDefinition<'oas'> {
  if (!result.ok) throw createInvalidProblem(result.errors);
  return checkOasDocument(result.definition, services);
}

/** A plain document has no extension: that part is stored already, or created by the import. */
export function rejectExtension(body: unknown): void {
  if (isObject(body) && extensionName in body) throw gwProblem.extension_present();
}
