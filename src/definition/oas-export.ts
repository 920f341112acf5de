import { arrayOrEmpty, getAt, isZeroValue, type JsonObject, textOrEmpty } from '#base/json-tree.ts';
import { extensionName } from './document-members.ts';
import { serverUrl } from './oas-import-servers.ts';
import type { OasDefinition } from './wire-types.ts';

/**
 * Public form of a document: no gateway extension, and servers that point to the gateway. The upstream address is not
 * disclosed, even where it was one of the document's servers.
 */
export function toPublicDocument(document: OasDefinition, addresses: readonly string[]): JsonObject {
  const rest = Object.fromEntries(Object.entries(document).filter(([name]) => !/^x-gw-/i.test(name)));
  const hidden = new Set([normalizeUrl(textOrEmpty(getAt(document, [extensionName, 'upstream', 'url'])))]);
  for (const url of addresses) hidden.add(normalizeUrl(url));
  const own = arrayOrEmpty(document.servers).filter(server => !hidden.has(normalizeUrl(serverUrl(server))));
  const servers = [...addresses.map(url => ({ url })), ...own];
  return isZeroValue(servers) ? rest : { ...rest, servers };
}

const normalizeUrl = (url: string) => url.replace(/\/+$/, '').toLowerCase();

/** File name of an export of one API, or of all. */
export const exportFileName = (id: string, isPublic: boolean): string =>
  `${isPublic ? 'oas' : 'GwOasApiDef'}${id === '' ? '' : `-${id}`}.json`;
