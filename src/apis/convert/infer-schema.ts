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

/** Schema that accepts what either accepts. */
export function mergeSchemas(a: JsonObject, b: JsonObject): JsonObject {
  const nullable = a.nullable === true || b.nullable === true ? { nullable: true } : {};
  if (isUntyped(a) && a.nullable) return { ...b, nullable: true };
  if (isUntyped(b) && b.nullable) return { ...a, nullable: true };
  if (a.type === 'array' && b.type === 'array')
    return { type: 'array', items: mergeItems(a.items as JsonObject, b.items as JsonObject), ...nullable };
  if (a.type === 'object' && b.type === 'object') return { ...mergeObjects(a, b), ...nullable };
  if (a.type === b.type) return { ...a, ...nullable };
  const types = [a.type, b.type];
  if (types.includes('integer') && types.includes('number')) return { type: 'number', ...nullable };
  return {};
}

/** An empty list gives no type of its items. */
const mergeItems = (a: JsonObject, b: JsonObject) => {
  if (Object.keys(a).length === 0) return b;
  return Object.keys(b).length === 0 ? a : mergeSchemas(a, b);
};

function mergeObjects(a: JsonObject, b: JsonObject): JsonObject {
  const left = (a.properties ?? {}) as Record<string, JsonObject>;
  const right = (b.properties ?? {}) as Record<string, JsonObject>;
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])].slice(0, maxProperties);
  const properties = names.map(name => {
    const [own, other] = [left[name], right[name]];
    return [name, own && other ? mergeSchemas(own, other) : (own ?? other ?? {})] as const;
  });
  const kept = new Set((b.required ?? []) as readonly string[]);
  const required = ((a.required ?? []) as readonly string[]).filter(name => kept.has(name));
  return { type: 'object', properties: Object.fromEntries(properties), ...(required.length > 0 && { required }) };
}

/** Type of a value in a URL or a form. */
export function inferTextSchema(text: string): JsonObject {
  if (/^-?\d{1,15}$/.test(text)) return { type: 'integer' };
  if (/^-?\d{1,15}\.\d{1,15}$/.test(text)) return { type: 'number' };
  return { type: text === 'true' || text === 'false' ? 'boolean' : 'string' };
}
