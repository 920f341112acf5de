import type { z } from 'zod';
import { closestMatch } from '#base/closest-match.ts';
import { isObject, type JsonObject } from '#base/json-tree.ts';
import { formatMemberPath, formatUnknownMember } from '#base/members.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import { methods } from './endpoints/paths.ts';
import { isMcpExtension } from './mcp-names.ts';
import type { DefinitionMembers, UnknownMembers } from './members.ts';
import { checkDefinitionMembers } from './members.ts';

/** Gateway extension of an OpenAPI document. */
export const extensionName = 'x-gw-api-gateway';

/** Streams extension of an OpenAPI document. */
export const streamingName = 'x-gw-streaming';

/** Extension of an MCP proxy over a REST API. */
export const mcpServerName = 'x-gw-mcp-server';

const extensionNames: readonly string[] = [extensionName, streamingName, mcpServerName];

/** Members of the gateway extension that OpenAPI does not have: at the top of the document they have no effect. */
const misplacedNames = ['server', 'upstream', 'middleware'];

/** Tools are those of an MCP proxy. */
const isAllowed = (document: JsonObject, name: string): boolean =>
  name !== mcpServerName || isMcpExtension(document[extensionName]);

/**
 * Unknown members at the top of an OpenAPI document. Most of it is the author's and often sloppy: only names clearly
 * meant for the gateway are rejected, those that begin with `x-gw` and the members of its extension.
 */
function findMisplacedMembers(document: unknown): ValidationError[] {
  if (!isObject(document)) return [];
  return Object.keys(document).flatMap(name => {
    const isOurs = /^x-gw/i.test(name) && !(extensionNames.includes(name) && isAllowed(document, name));
    if (!isOurs && !misplacedNames.includes(name)) return [];
    const guess = isOurs ? closestMatch(name, extensionNames) : `${extensionName}.${name}`;
    return [{ path: name, message: formatUnknownMember({ path: name, name, nearest: guess }) }];
  });
}

/** Member of operations in the OpenAPI document that the gateway publishes of itself. */
const permissionName = 'x-gw-permission';

/** Gateway members inside paths and operations, where they have no effect. */
function findPathExtensions(document: unknown): ValidationError[] {
  if (!isObject(document) || !isObject(document.paths)) return [];
  return Object.entries(document.paths).flatMap(([path, item]) => [
    ...findGatewayNames(item, ['paths', path]),
    ...(isObject(item) ? methods.flatMap(method => findGatewayNames(item[method], ['paths', path, method])) : []),
  ]);
}

function findGatewayNames(value: unknown, place: readonly string[]): ValidationError[] {
  if (!isObject(value)) return [];
  return Object.keys(value)
    .filter(name => /^x-gw/i.test(name) && name !== permissionName)
    .map(name => ({
      path: formatMemberPath([...place, name]),
      message: `no such member; did you mean ${extensionName}.middleware.operations?`,
    }));
}

/**
 * Checks the members of a document. `null` means absent in the gateway's extensions; everything else stays as written.
 */
export function checkDocumentMembers(
  schema: z.ZodType,
  document: unknown,
  unknownMembers: UnknownMembers,
  unknownNames: readonly ValidationError[] = [],
): DefinitionMembers {
  const errors = [...findMisplacedMembers(document), ...findPathExtensions(document), ...unknownNames];
  const members = checkDefinitionMembers(schema, document, unknownMembers, errors);
  return { ...members, value: keepAuthorValues(document, members.value) };
}

function keepAuthorValues(document: unknown, checked: unknown): unknown {
  if (!isObject(document) || !isObject(checked)) return checked;
  const changed = extensionNames.filter(name => name in checked && checked[name] !== document[name]);
  return changed.length === 0
    ? document
    : { ...document, ...Object.fromEntries(changed.map(name => [name, checked[name]])) };
}
