import type { z } from 'zod';
import { deleteAt, getAt, isObject, isZeroValue, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { formatMemberPath } from '#base/members.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import type { CheckResult } from './check-result.ts';
import { extensionName, mcpServerName } from './document-members.ts';
import { createSuggester } from './document-names.ts';
import {
  jsonRpcVersion,
  mcpProtocol,
  primitiveMembers,
  primitiveTypes,
  readPrimitives,
  refusedMcpFeatures,
  refusedMcpParts,
} from './mcp-names.ts';
import type { UnknownMembers } from './members.ts';
import { buildDocumentSchema, checkDocumentWith, isDocument } from './oas.ts';
import { omitExpandedMembers, toolSettingsSchema } from './rest-tools/tool-settings.ts';
import { buildWireSchema } from './wire-schema.ts';
import type { OasDefinition } from './wire-types.ts';

/** Schema of a request body with the document of an MCP proxy. */
export const mcpSchema = (
  buildDocumentSchema(buildWireSchema('oas', { isMcp: true })) as unknown as z.ZodObject
).safeExtend({ [mcpServerName]: toolSettingsSchema.optional() }) as unknown as z.ZodType<OasDefinition>;

const maxPrimitiveNameCharacters = 1024;

/** Checks the document of an MCP proxy, and adds its markers. */
export function checkMcp(document: unknown, unknownMembers: UnknownMembers = 'refuse'): CheckResult<OasDefinition> {
  if (!isDocument(document)) return checkDocumentWith(mcpSchema, document, unknownMembers);
  const refused = findRefused(document);
  const marked = addMarkers(omitMembers(omitExpandedMembers(document), refused));
  const errors = [
    ...refused.map(({ path, message }) => ({ path: formatMemberPath(path), message })),
    ...checkProtocol(document),
    ...checkPrimitiveNames(document),
    ...checkPrimitiveSecurity(document),
    ...checkCase(document),
  ];
  return checkDocumentWith(mcpSchema, marked, unknownMembers, errors);
}

interface RefusedMember {
  readonly path: readonly string[];
  readonly message: string;
}

/** Members that an OpenAPI-based API has and an MCP proxy does not. */
function findRefused(document: JsonObject): RefusedMember[] {
  const extension = objectOrEmpty(document[extensionName]);
  const describe = (reason: string) => `is not available for MCP proxies: ${reason}`;
  const parts = refusedMcpParts
    .filter(({ path }) => !isZeroValue(getAt(extension, path)))
    .map(({ path, reason }) => ({ path: [extensionName, ...path], message: describe(reason) }));
  const features = ['operations', ...Object.values(primitiveMembers)].flatMap(member =>
    Object.entries(objectOrEmpty(objectOrEmpty(extension.middleware)[member])).flatMap(([name, settings]) =>
      Object.keys(refusedMcpFeatures)
        .filter(feature => isObject(settings) && (settings[feature] ?? undefined) !== undefined)
        .map(feature => ({
          path: [extensionName, 'middleware', member, name, feature],
          message: describe(refusedMcpFeatures[feature]!),
        })),
    ),
  );
  return [...parts, ...features];
}

/** Refused members have an error of their own: the schema would report them as unknown once more. */
function omitMembers(document: JsonObject, refused: readonly RefusedMember[]): JsonObject {
  if (refused.length === 0) return document;
  const copy = structuredClone(document);
  for (const { path } of refused) deleteAt(copy, path);
  return copy;
}

function addMarkers(document: JsonObject): JsonObject {
  const extension = objectOrEmpty(document[extensionName]);
  if (!isObject(extension.info)) return document;
  const info = { ...extension.info, applicationProtocol: mcpProtocol, jsonRpcVersion };
  return { ...document, [extensionName]: { ...extension, info } };
}

/** A marker that is sent must be that of MCP; JSON-RPC runs over HTTP alone. */
function checkProtocol(document: JsonObject): ValidationError[] {
  const { info, server } = objectOrEmpty(document[extensionName]);
  const check = (part: 'info' | 'server', name: string, value: unknown, allowed: readonly string[]) =>
    value === undefined || value === null || value === '' || allowed.includes(String(value))
      ? []
      : [
          {
            path: `${extensionName}.${part}.${name}`,
            message: `must be ${allowed.join(' or ')} for an MCP proxy`,
          },
        ];
  const { applicationProtocol, jsonRpcVersion: version } = objectOrEmpty(info);
  return [
    ...check('info', 'applicationProtocol', applicationProtocol, [mcpProtocol]),
    ...check('info', 'jsonRpcVersion', version, [jsonRpcVersion]),
    ...check('server', 'protocol', objectOrEmpty(server).protocol, ['http', 'https', 'h2c']),
  ];
}

/** Names are compared in Unicode normalization form C: two that are equal in it would be one primitive. */
function checkPrimitiveNames(document: JsonObject): ValidationError[] {
  const extension = objectOrEmpty(document[extensionName]);
  return primitiveTypes.flatMap(type => {
    const seen = new Set<string>();
    return Object.keys(readPrimitives(extension, type)).flatMap(name => {
      const path = formatMemberPath([extensionName, 'middleware', primitiveMembers[type], name]);
      const normal = name.normalize('NFC');
      const isRepeated = seen.has(normal);
      seen.add(normal);
      if (name === '' || name.length > maxPrimitiveNameCharacters || !name.isWellFormed())
        return [{ path, message: `must be a name of 1 to ${maxPrimitiveNameCharacters} characters` }];
      return isRepeated ? [{ path, message: 'is the name of another entry, in other characters' }] : [];
    });
  });
}

/** JSON-RPC methods and primitives are case-sensitive. */
function checkCase(document: JsonObject): ValidationError[] {
  const { middleware } = objectOrEmpty(document[extensionName]);
  return ['operations', ...Object.values(primitiveMembers)].flatMap(member =>
    Object.entries(objectOrEmpty(objectOrEmpty(middleware)[member])).flatMap(([name, settings]) =>
      ['allow', 'block', 'ignoreAuthentication']
        .filter(feature => objectOrEmpty(objectOrEmpty(settings)[feature]).ignoreCase === true)
        .map(feature => ({
          path: formatMemberPath([extensionName, 'middleware', member, name, feature, 'ignoreCase']),
          message: 'must be false: names of MCP are case-sensitive',
        })),
    ),
  );
}

/** Security requirements of primitives name schemes of the document. */
function checkPrimitiveSecurity(document: JsonObject): ValidationError[] {
  const extension = objectOrEmpty(document[extensionName]);
  const known = Object.keys(objectOrEmpty(getAt(document, ['components', 'securitySchemes'])));
  const suggest = createSuggester(known);
  return primitiveTypes.flatMap(type =>
    Object.entries(readPrimitives(extension, type)).flatMap(([name, settings]) => {
      const { security } = objectOrEmpty(settings);
      return (Array.isArray(security) ? security : []).flatMap((requirement, at) =>
        Object.keys(objectOrEmpty(requirement))
          .filter(scheme => !known.includes(scheme))
          .map(scheme => ({
            path: formatMemberPath([extensionName, 'middleware', primitiveMembers[type], name, 'security', at]),
            message: `${scheme} is not one of components.securitySchemes${suggest(scheme)}`,
          })),
      );
    }),
  );
}
