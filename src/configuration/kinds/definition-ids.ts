import type { ApiKind } from '#apis/api/schema.ts';
import { isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { extensionName } from '#definition/document-members.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';

/** Ids inside a definition: the envelope of the object has them, and the server sets them. */

export function withoutIds(kind: ApiKind, definition: unknown): JsonObject {
  if (kind === 'classic') {
    const { id: _id, api_id: _apiId, org_id: _org, is_oas: _format, ...rest } = definition as JsonObject;
    return rest;
  }
  const { [extensionName]: extension, ...document } = definition as JsonObject;
  const { info, ...gateway } = objectOrEmpty(extension);
  const { id: _id, dbId: _dbId, orgId: _org, ...rest } = objectOrEmpty(info);
  return { ...document, [extensionName]: { ...gateway, info: rest } };
}

/** Definition with the public id of the envelope; one that names another API is refused. */
export function withApiId(kind: ApiKind, definition: JsonObject, apiId: string): JsonObject {
  if (kind === 'classic') {
    ensureSameId(definition.api_id, apiId, 'definition.api_id');
    return { ...definition, api_id: apiId };
  }
  const extension = definition[extensionName];
  if (!isObject(extension)) return definition;
  const info = objectOrEmpty(extension.info);
  ensureSameId(info.id, apiId, `definition.${extensionName}.info.id`);
  return { ...definition, [extensionName]: { ...extension, info: { ...info, id: apiId } } };
}

function ensureSameId(given: unknown, apiId: string, path: string): void {
  if (given === undefined || given === '' || given === apiId) return;
  throw createInvalidProblem([{ path, message: `is not the id of the object, ${apiId}: leave it out` }]);
}
