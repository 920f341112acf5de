import { type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { extensionName } from '#definition/document-members.ts';
import type { RestTool } from '#definition/rest-tools/rest-tool.ts';
import { listRestTools, type OperationAccess } from '#definition/rest-tools/rest-tools.ts';
import { ToolBoundsError } from '#definition/rest-tools/tool-bounds.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';

export const upstreamPath = 'x-gw-api-gateway.upstream.url';

/** Tools of an MCP proxy over the REST API of a stored document; refuses a document beyond the bounds of tools. */
export function listSourceTools(document: JsonObject, extension: unknown, path = upstreamPath): RestTool[] {
  try {
    return listRestTools(document, readOperationAccess(document), extension);
  } catch (error) {
    if (!(error instanceof ToolBoundsError)) throw error;
    throw createInvalidProblem([{ path, message: error.message }]);
  }
}

/** Without a selection, which an MCP proxy may have. */
export function fitsToolBounds(document: JsonObject): boolean {
  try {
    listRestTools(document, readOperationAccess(document), undefined);
    return true;
  } catch (error) {
    if (error instanceof ToolBoundsError) return false;
    throw error;
  }
}

/** Access rules as the gateway extension writes them. */
function readOperationAccess(document: JsonObject): OperationAccess {
  const { operations } = objectOrEmpty(objectOrEmpty(document[extensionName]).middleware);
  const listWith = (feature: string) =>
    Object.entries(objectOrEmpty(operations))
      .filter(([, settings]) => objectOrEmpty(objectOrEmpty(settings)[feature]).enabled === true)
      .map(([id]) => id);
  const allowed = listWith('allow');
  return {
    hidden: new Set([...listWith('block'), ...listWith('internal')]),
    allowed: allowed.length > 0 ? new Set(allowed) : undefined,
  };
}
