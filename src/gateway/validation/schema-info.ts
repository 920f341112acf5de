import { arrayOrEmpty, isObject } from '#base/json-tree.ts';
import type { OpenApi } from './document.ts';

/** What a schema says about the kind of a value, alternatives and references taken together. */
export interface Facts {
  /** Empty where every type is welcome. */
  readonly types: ReadonlySet<string>;
  readonly items: unknown;
  readonly properties: ReadonlyMap<string, unknown>;
  readonly additional: unknown;
}

const mostSchemas = 200;

export function factsOf(schema: unknown, document: OpenApi): Facts {
  const types = new Set<string>();
  const properties = new Map<string, unknown>();
  let items: unknown;
  let additional: unknown;
  const met = new Set<object>();
  const waiting = [schema];
  for (let next = waiting.pop(); next !== undefined && met.size < mostSchemas; next = waiting.pop()) {
    const it = document.follow(next);
    if (met.has(it)) continue;
    met.add(it);
    for (const type of Array.isArray(it.type) ? it.type : [it.type]) if (typeof type === 'string') types.add(type);
    if (it.nullable === true) types.add('null');
    items ??= it.items;
    if (isObject(it.additionalProperties)) additional ??= it.additionalProperties;
    for (const [name, member] of Object.entries(isObject(it.properties) ? it.properties : {}))
      if (!properties.has(name)) properties.set(name, member);
    waiting.push(...arrayOrEmpty(it.allOf), ...arrayOrEmpty(it.anyOf), ...arrayOrEmpty(it.oneOf));
  }
  if (types.size === 0 && properties.size > 0) types.add('object');
  if (types.size === 0 && items !== undefined) types.add('array');
  return { types, items, properties, additional };
}
