import { arrayOrEmpty, isObject } from '#base/json-tree.ts';
import type { OpenApiDocument } from './openapi-document.ts';

/** Types and members of a schema, over its references and combined schemas. */
export interface SchemaInfo {
  /** Empty where every type is allowed. */
  readonly types: ReadonlySet<string>;
  readonly items: unknown;
  readonly properties: ReadonlyMap<string, unknown>;
  readonly additional: unknown;
}

const maxSchemas = 200;

export function readSchemaInfo(schema: unknown, document: OpenApiDocument): SchemaInfo {
  const types = new Set<string>();
  const properties = new Map<string, unknown>();
  let items: unknown;
  let additional: unknown;
  const visited = new Set<object>();
  const pending = [schema];
  for (let next = pending.pop(); next !== undefined && visited.size < maxSchemas; next = pending.pop()) {
    const it = document.dereference(next);
    if (visited.has(it)) continue;
    visited.add(it);
    for (const type of Array.isArray(it.type) ? it.type : [it.type]) if (typeof type === 'string') types.add(type);
    if (it.nullable === true) types.add('null');
    items ??= it.items;
    if (isObject(it.additionalProperties)) additional ??= it.additionalProperties;
    for (const [name, member] of Object.entries(isObject(it.properties) ? it.properties : {}))
      if (!properties.has(name)) properties.set(name, member);
    pending.push(...arrayOrEmpty(it.allOf), ...arrayOrEmpty(it.anyOf), ...arrayOrEmpty(it.oneOf));
  }
  if (types.size === 0 && properties.size > 0) types.add('object');
  if (types.size === 0 && items !== undefined) types.add('array');
  return { types, items, properties, additional };
}
