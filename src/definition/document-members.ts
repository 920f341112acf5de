import type { z } from 'zod';
import { closestMatch } from '#base/closest-match.ts';
import { isObject } from '#base/json-tree.ts';
import { formatMemberPath, formatUnknownMember } from '#base/members.ts';
import { methods } from './endpoints/paths.ts';
import type { DefinitionMembers, UnknownMembers } from './members.ts';
import { checkDefinitionMembers } from './members.ts';
import type { Fault } from './validation-error.ts';

/** The member of an OpenAPI document that is the gateway's. */
export const extensionName = 'x-gw-api-gateway';

/** The member that holds the streams. */
export const streamingName = 'x-gw-streaming';

const extensionNames: readonly string[] = [extensionName, streamingName];

/** Members of the gateway's part that are not OpenAPI's too: at the top of the document they would have no effect. */
const misplacedNames = ['server', 'upstream', 'middleware'];

/**
 * Unknown members at the top of an OpenAPI document. Most of it is the author's, and documents of the world are sloppy: only
 * names that can but be meant for the gateway are refused, those that begin with `x-gw` and the members of its part.
 */
function findMisplacedMembers(document: unknown): Fault[] {
  if (!isObject(document)) return [];
  return Object.keys(document).flatMap(name => {
    const isOurs = /^x-gw/i.test(name) && !extensionNames.includes(name);
    if (!isOurs && !misplacedNames.includes(name)) return [];
    const guess = isOurs ? closestMatch(name, extensionNames) : `${extensionName}.${name}`;
    return [{ path: name, message: formatUnknownMember({ path: name, name, nearest: guess }) }];
  });
}

/** What the gateway's own OpenAPI document says in its operations. */
const permissionName = 'x-gw-permission';

/** The same inside paths and operations, where a rule for the gateway would have no effect. */
function findPathExtensions(document: unknown): Fault[] {
  if (!isObject(document) || !isObject(document.paths)) return [];
  return Object.entries(document.paths).flatMap(([path, item]) => [
    ...findGatewayNames(item, ['paths', path]),
    ...(isObject(item) ? methods.flatMap(method => findGatewayNames(item[method], ['paths', path, method])) : []),
  ]);
}

function findGatewayNames(value: unknown, place: readonly string[]): Fault[] {
  if (!isObject(value)) return [];
  return Object.keys(value)
    .filter(name => /^x-gw/i.test(name) && name !== permissionName)
    .map(name => ({
      path: formatMemberPath([...place, name]),
      message: `no such member; did you mean ${extensionName}.middleware.operations?`,
    }));
}

/** Checks the members of a document. `null` means absent in the gateway's parts; all else stays as its author wrote it. */
export function checkDocumentMembers(
  schema: z.ZodType,
  given: unknown,
  unknownMembers: UnknownMembers,
  unknownNames: readonly Fault[] = [],
): DefinitionMembers {
  const faults = [...findMisplacedMembers(given), ...findPathExtensions(given), ...unknownNames];
  const members = checkDefinitionMembers(schema, given, unknownMembers, faults);
  return { ...members, value: keepAuthorValues(given, members.value) };
}

function keepAuthorValues(given: unknown, checked: unknown): unknown {
  if (!isObject(given) || !isObject(checked)) return checked;
  const changed = extensionNames.filter(name => name in checked && checked[name] !== given[name]);
  return changed.length === 0 ? given : { ...given, ...Object.fromEntries(changed.map(name => [name, checked[name]])) };
}
