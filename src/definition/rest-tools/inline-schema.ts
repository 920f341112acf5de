import { parsePointerFragment } from '#base/json-pointer.ts';
import type { JsonObject } from '#base/json-tree.ts';
import { isObject } from '#base/json-tree.ts';
import type { ToolBudget } from './tool-bounds.ts';

/** Bounds of one schema: a document whose references branch could otherwise grow without end. */
const maxSchemaValues = 5000;
const maxReferenceDepth = 40;
/** Levels with those of inlined references: each takes stack. */
const maxInlinedDepth = 200;

/** Members that describe a schema for people or for XML, and have no meaning for a tool. */
const omittedMembers = new Set(['example', 'examples', 'xml', 'externalDocs', 'discriminator', 'nullable']);

/** Value at a local reference (`#/components/schemas/Pet`); undefined for every other one. */
export function resolveReference(document: Readonly<JsonObject>, reference: unknown): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined;
  let value: unknown = document;
  for (const name of parsePointerFragment(reference.slice(2))) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}

/** Follows references until an object that has none; undefined for a cycle or a missing target. */
export function dereference(document: Readonly<JsonObject>, given: unknown): JsonObject | undefined {
  let value = given;
  for (let depth = 0; depth < maxReferenceDepth; depth++) {
    if (!isObject(value)) return undefined;
    if (typeof value.$ref !== 'string') return value;
    value = resolveReference(document, value.$ref);
  }
  return undefined;
}

/**
 * JSON Schema of an OpenAPI schema, without references: each is replaced by its target. A reference inside its own
 * target, one that leads nowhere and what exceeds the bounds of one schema accept every value; the budget of the document
 * throws.
 */
export function inlineSchema(document: Readonly<JsonObject>, schema: unknown, budget: ToolBudget): JsonObject {
  let values = 0;
  let depth = 0;

  function visit(given: unknown, open: readonly string[]): unknown {
    budget.take(1);
    if (typeof given === 'string') budget.takeText(given);
    if (++values > maxSchemaValues || depth >= maxInlinedDepth) return isObject(given) ? {} : null;
    depth++;
    const inlined = visitValue(given, open);
    depth--;
    return inlined;
  }

  function visitValue(given: unknown, open: readonly string[]): unknown {
    if (Array.isArray(given)) return given.map(item => visit(item, open));
    if (!isObject(given)) return given;
    const { $ref: reference } = given;
    if (typeof reference === 'string') {
      budget.takeText(reference);
      if (open.includes(reference) || open.length >= maxReferenceDepth) return {};
      return visit(resolveReference(document, reference) ?? {}, [...open, reference]);
    }
    return addNull(given, visitMembers(given, open));
  }

  function visitMembers(given: JsonObject, open: readonly string[]): JsonObject {
    const result: JsonObject = {};
    for (const [name, value] of Object.entries(given)) {
      if (name === '__proto__' || omittedMembers.has(name) || name.startsWith('x-')) continue;
      budget.takeText(name);
      if (name === 'properties' && isObject(value)) result[name] = visitProperties(value, open);
      else if (name === 'enum' || name === 'default' || name === 'const') {
        budget.takeAll(value);
        result[name] = value;
      } else result[name] = visit(value, open);
    }
    return toNumericBounds(result);
  }

  /** Names of properties are names of the API: none has a meaning of its own. */
  const visitProperties = (properties: JsonObject, open: readonly string[]): JsonObject =>
    Object.fromEntries(
      Object.entries(properties)
        .filter(([name]) => name !== '__proto__')
        .map(([name, rule]) => {
          budget.takeText(name);
          return [name, visit(rule, open)];
        }),
    );

  const inlined = visit(schema, []);
  return isObject(inlined) ? inlined : {};
}

/** `nullable` of OpenAPI 3.0. */
function addNull({ nullable }: JsonObject, schema: JsonObject): JsonObject {
  if (nullable !== true || typeof schema.type !== 'string') return schema;
  return {
    ...schema,
    type: [schema.type, 'null'],
    ...(Array.isArray(schema.enum) && !schema.enum.includes(null) && { enum: [...schema.enum, null] }),
  };
}

/** `exclusiveMinimum: true` of OpenAPI 3.0 is a number in JSON Schema. */
function toNumericBounds(schema: JsonObject): JsonObject {
  for (const [exclusive, plain] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof schema[exclusive] !== 'boolean') continue;
    const isExclusive = schema[exclusive];
    delete schema[exclusive];
    if (!isExclusive || typeof schema[plain] !== 'number') continue;
    schema[exclusive] = schema[plain];
    delete schema[plain];
  }
  return schema;
}
