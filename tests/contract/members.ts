import type { z } from 'zod';

/** Where a schema has objects: how a body reaches each, and what it declares. Independent of the walk that it tests. */
export interface Place {
  readonly path: string;
  /** A body with this object at the place, and nothing beside the way to it. */
  body(object: Record<string, unknown>): unknown;
  readonly object: z.core.$ZodObjectDef;
}

type Wrap = (value: unknown) => unknown;

const maxDepth = 12;

export function placesOf(schema: z.core.$ZodType, path = '', wrap: Wrap = value => value, depth = 0): Place[] {
  const def = schema._zod.def as z.core.$ZodTypes['_zod']['def'];
  const below = (inner: z.core.$ZodType, at = path, around = wrap) => placesOf(inner, at, around, depth + 1);
  if (depth > maxDepth) return [];
  switch (def.type) {
    case 'object': {
      const object = def as z.core.$ZodObjectDef;
      const members = Object.entries(object.shape).flatMap(([name, member]) =>
        below(member, path ? `${path}.${name}` : name, value => wrap({ [name]: value })),
      );
      return [{ path, body: wrap, object }, ...members];
    }
    case 'record':
      return below(def.valueType as z.core.$ZodType, `${path}.some`, value => wrap({ some: value }));
    case 'array':
      return below(def.element, `${path}[0]`, value => wrap([value]));
    case 'union':
      return def.options.flatMap(option => below(option));
    case 'pipe':
      return below((def.in._zod.def as { type: string }).type === 'transform' ? def.out : def.in);
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
      return below(def.innerType);
    default:
      return [];
  }
}
