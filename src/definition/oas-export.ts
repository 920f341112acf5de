import { arrayOrEmpty, getAt, isZeroValue, type JsonObject } from '#base/json-tree.ts';
import { extensionName } from './document-members.ts';
import type { OasDefinition } from './oas.ts';
import { serverUrl } from './oas-import-servers.ts';

/**
 * The document as those who call the API may see it: nothing of the gateway's own, and servers that lead to the gateway.
 * The service behind it is nobody's business out there, even where it was once the document's own server.
 */
export function toPublicDocument(document: OasDefinition, addresses: readonly string[]): JsonObject {
  const rest = Object.fromEntries(Object.entries(document).filter(([name]) => !/^x-gw-/i.test(name)));
  const hidden = new Set([normalizeUrl(String(getAt(document, [extensionName, 'upstream', 'url']) ?? ''))]);
  for (const url of addresses) hidden.add(normalizeUrl(url));
  const own = arrayOrEmpty(document.servers).filter(server => !hidden.has(normalizeUrl(serverUrl(server))));
  const servers = [...addresses.map(url => ({ url })), ...own];
  return isZeroValue(servers) ? rest : { ...rest, servers };
}

const normalizeUrl = (url: string) => url.replace(/\/+$/, '').toLowerCase();

/** What the file of one API, or of all, is called. */
export const exportFileName = (id: string, isPublic: boolean): string =>
  `${isPublic ? 'oas' : 'GwOasApiDef'}${id === '' ? '' : `-${id}`}.json`;
