import type { Json } from '#base/json.ts';
import { isObject } from '#base/json-tree.ts';
import type { JsonMembers } from '#base/mcp-server/protocol.ts';

export interface ShortenedSchema {
  readonly schema: JsonMembers;
  readonly isShortened: boolean;
}

const maxLevels = 12;
/** Member names of a body are on this level: they are of more use than descriptions. */
const minDescribedLevels = 2;
const subschemaLists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const subschemas = ['items', 'additionalProperties', 'not'];

/**
 * Shortens a JSON Schema to a number of bytes: levels of subschemas are left out from the deepest one on, with their
 * descriptions. A subschema that is left out accepts every value of its type, so that a valid value stays valid.
 */
export function shortenSchema(schema: JsonMembers, maxBytes: number): ShortenedSchema {
  if (measure(schema) <= maxBytes) return { schema, isShortened: false };
  for (let levels = maxLevels; levels >= 0; levels--) {
    for (const hasDescription of levels > minDescribedLevels ? [true] : [true, false]) {
      const shortened = cutLevels(schema, levels, hasDescription);
      if (measure(shortened) <= maxBytes) return { schema: shortened, isShortened: true };
    }
  }
  return { schema: {}, isShortened: true };
}

const measure = (value: Json) => Buffer.byteLength(JSON.stringify(value));

function keepType({ type, description }: JsonMembers, hasDescription: boolean): JsonMembers {
  return {
    ...(type !== undefined && { type }),
    ...(hasDescription && description !== undefined && { description }),
  };
}

function cutLevels(schema: JsonMembers, levels: number, hasDescription: boolean): JsonMembers {
  if (levels === 0) return keepType(schema, hasDescription);
  const cutOne = (value: Json): Json =>
    isObject(value) ? cutLevels(value as JsonMembers, levels - 1, hasDescription) : value;
  const result: JsonMembers = {};
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'description' && !hasDescription) continue;
    if (name === 'properties' && isObject(value))
      result[name] = Object.fromEntries(Object.entries(value).map(([key, rule]) => [key, cutOne(rule as Json)]));
    else if (subschemaLists.includes(name) && Array.isArray(value)) result[name] = value.map(cutOne);
    else if (subschemas.includes(name)) result[name] = cutOne(value);
    else result[name] = value;
  }
  return result;
}
