import { isObject, type JsonObject } from '#base/json-tree.ts';

/** JSON Schema (OpenAPI 3.0) of a recorded value: its types only, since recorded values may be secrets. */

const maxDepth = 20;
const maxProperties = 500;
const maxItems = 20;

export function inferSchema(value: unknown, depth = 0): JsonObject {
  if (depth >= maxDepth) return {};
  if (value === null || value === undefined) return { nullable: true };
  if (Array.isArray(value)) {
    const items = value.slice(0, maxItems).map(item => inferSchema(item, depth + 1));
    return { type: 'array', items: items.length === 0 ? {} : items.reduce(mergeSchemas) };
  }
  if (isObject(value)) return inferObject(value, depth);
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' };
  return { type: typeof value === 'boolean' ? 'boolean' : 'string' };
}

function inferObject(value: JsonObject, depth: number): JsonObject {
  const names = Object.keys(value).filter(name => name !== '__proto__');
  const entries = names.slice(0, maxProperties).map(name => [name, inferSchema(value[name], depth + 1)] as const);
  const required = entries.map(([name]) => name);
  const properties = Object.fromEntries(entries);
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

const isUntyped = (schema: JsonObject) => schema.type === undefined;

/**
 * Schema that accepts what either accepts. Takes both over and changes the first: copies of a growing schema for each of
 * many recorded bodies would cost the square of their number.
 */
export function mergeSchemas(a: JsonObject, b: JsonObject): JsonObject {
  const nullable = a.nullable === true || b.nullable === true ? { nullable: true } : {};
  if (isUntyped(a) && a.nullable) return Object.assign(b, nullable);
  if (isUntyped(b) && b.nullable) return Object.assign(a, nullable);
  if (a.type === 'array' && b.type === 'array')
    return Object.assign(a, { items: mergeItems(a.items as JsonObject, b.items as JsonObject) }, nullable);
  if (a.type === 'object' && b.type === 'object') return Object.assign(mergeObjects(a, b), nullable);
  if (a.type === b.type) return Object.assign(a, nullable);
  const types = [a.type, b.type];
  if (types.includes('integer') && types.includes('number')) return { type: 'number', ...nullable };
  return {};
}

/** An empty list gives no type of its items. */
const mergeItems = (a: JsonObject, b: JsonObject) => {
  if (Object.keys(a).length === 0) return b;
  return Object.keys(b).length === 0 ? a : mergeSchemas(a, b);
};

/** Numbers of properties of merged schemas, which would otherwise be counted again for each recorded body. */
const propertyCounts = new WeakMap<object, number>();

/** Adds the properties of `b` to `a`: the cost is that of `b`, and of the required names, which only become fewer. */
function mergeObjects(a: JsonObject, b: JsonObject): JsonObject {
  const properties = (a.properties ?? {}) as Record<string, JsonObject>;
  let count = propertyCounts.get(properties) ?? Object.keys(properties).length;
  for (const [name, schema] of Object.entries((b.properties ?? {}) as Record<string, JsonObject>)) {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (own) properties[name] = mergeSchemas(own, schema);
    else if (count < maxProperties) {
      properties[name] = schema;
      count++;
    }
  }
  propertyCounts.set(properties, count);
  const required = intersect(a.required as readonly string[] | undefined, b.required as readonly string[] | undefined);
  if (required.length > 0) return Object.assign(a, { properties, required });
  delete a.required;
  return Object.assign(a, { properties });
}

function intersect(a: readonly string[] = [], b: readonly string[] = []): string[] {
  const kept = new Set(b);
  return a.filter(name => kept.has(name));
}

/** Type of a value in a URL or a form. */
export function inferTextSchema(text: string): JsonObject {
  if (/^-?\d{1,15}$/.test(text)) return { type: 'integer' };
  if (/^-?\d{1,15}\.\d{1,15}$/.test(text)) return { type: 'number' };
  return { type: text === 'true' || text === 'false' ? 'boolean' : 'string' };
}
