import { isObject } from '#base/json-tree.ts';
import { extensionName, streamingName } from './document-members.ts';
import { isMcpExtension } from './mcp-names.ts';

/** Kind of an API that is written as a document, by its extensions and markers. */
export function findDocumentKind(document: unknown): 'oas' | 'streams' | 'mcp' {
  if (!isObject(document)) return 'oas';
  if (streamingName in document) return 'streams';
  return isMcpExtension(document[extensionName]) ? 'mcp' : 'oas';
}
