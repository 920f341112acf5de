import { isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import { describeUnknownContextName, isGatewayContextName } from './context-names.ts';

const variablePattern = /\$gw_context\.([A-Za-z0-9_.-]+)/g;

/** Members of the block whose texts have variables: headers, and configurations of data sources. */
const placesWithVariables = ['proxy', 'engine', 'supergraph', 'type_field_configurations'] as const;
/** Schemas and documents of the author. */
const plainMembers: ReadonlySet<string> = new Set(['sdl', 'merged_sdl', 'auth_headers']);
/** Members with which an API has context variables of any name. */
const openMembers: ReadonlySet<string> = new Set(['transform_jq', 'transform_jq_response', 'extra_metadata']);

/**
 * Context variables that no request has, in a GraphQL block: requests of the API would get 503. Not checked where programs
 * or token servers of the definition name variables.
 */
export function checkGraphqlVariables({ graphql, ...rest }: JsonObject): ValidationError[] {
  const block = objectOrEmpty(graphql);
  if (block.enabled !== true || hasOpenNames(rest)) return [];
  return placesWithVariables.flatMap(member => findUnknown(block[member], `graphql.${member}`));
}

function hasOpenNames(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasOpenNames);
  if (!isObject(value)) return false;
  return Object.entries(value).some(
    ([name, it]) => (openMembers.has(name) && Array.isArray(it) && it.length > 0) || hasOpenNames(it),
  );
}

function findUnknown(value: unknown, path: string): ValidationError[] {
  if (typeof value === 'string') {
    const names = [...value.matchAll(variablePattern)].map(([, name]) => name!);
    const unknown = names.find(name => !isGatewayContextName(name));
    return unknown === undefined ? [] : [{ path, message: describeUnknownContextName(unknown) }];
  }
  if (Array.isArray(value)) return value.flatMap((it, at) => findUnknown(it, `${path}[${at}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, it]) =>
    plainMembers.has(name) ? [] : findUnknown(it, `${path}.${name}`),
  );
}
