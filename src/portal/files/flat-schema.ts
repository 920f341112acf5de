import { arrayOrEmpty, isObject, type JsonObject } from '#base/json-tree.ts';
import { followReference } from './api-reference.ts';

/** Members of one object that are read. */
export const maxMembers = 300;
/** Parts of `allOf` of one schema, those of its parts included. */
const maxParts = 50;

/** Schemas with the members of their `allOf`, and first members, each built once: many schemas may name the same one. */
const flattened = new WeakMap<JsonObject, JsonObject>();
const firstMembers = new WeakMap<JsonObject, JsonObject>();

/** Members of an object: one more than the bound at most, which shows that there are more. */
export function readMembers({ properties }: JsonObject): JsonObject {
  if (!isObject(properties)) return {};
  const known = firstMembers.get(properties);
  if (known) return known;
  const first = Object.fromEntries(Object.entries(properties).slice(0, maxMembers + 1));
  firstMembers.set(properties, first);
  return first;
}

/** A schema with the members of `allOf` in it. */
export function flattenSchema(value: unknown, document: JsonObject): JsonObject {
  const schema = followReference(value, document);
  if (arrayOrEmpty(schema.allOf).length === 0) return schema;
  const known = flattened.get(schema);
  if (known) return known;
  const all = listParts(schema, document, { seen: new Set(), followed: 0 });
  const whole = {
    ...Object.assign({}, ...all),
    properties: Object.assign({}, ...all.map(readMembers)),
    required: all.flatMap(it => arrayOrEmpty(it.required)),
    allOf: undefined,
  };
  flattened.set(schema, whole);
  return whole;
}

/** Parts of `allOf`, innermost first, then the schema itself. Each once: parts may contain each other. */
function listParts(
  schema: JsonObject,
  document: JsonObject,
  progress: { readonly seen: Set<JsonObject>; followed: number },
): JsonObject[] {
  if (progress.seen.has(schema)) return [];
  progress.seen.add(schema);
  const parts: JsonObject[] = [];
  for (const it of arrayOrEmpty(schema.allOf)) {
    progress.followed++;
    if (progress.followed > maxParts) break;
    parts.push(...listParts(followReference(it, document), document, progress));
  }
  return [...parts, schema];
}
