import { z } from 'zod';
import { isClosed, isNullAbsent } from './members.ts';

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>;
type JsonSchema = Parameters<Override>[0]['jsonSchema'];

/** Shapes that `publishAs` replaces, by the definition of the schema that stands for them: clones share it. */
const replacements = new WeakMap<object, z.ZodType>();

/** Publishes `shape` in place of `schema`. Converted when a document is built: a large shape costs 50 ms. */
export function publishAs<T extends z.ZodType>(schema: T, shape: z.ZodType): T {
  replacements.set(schema._zod.def, shape);
  return schema;
}

const converted = new WeakMap<z.ZodType, JsonSchema>();

function convert(shape: z.ZodType): JsonSchema {
  const known = converted.get(shape);
  if (known) return known;
  const { $schema: _dialect, ...schema } = z.toJSONSchema(shape, {
    io: 'input',
    unrepresentable: 'any',
    override: publishMembers,
  });
  converted.set(shape, schema as JsonSchema);
  return schema as JsonSchema;
}

/**
 * The `override` of `z.toJSONSchema` for request bodies that `checkMembers` walks: objects are closed where unknown
 * members are refused, and `null` is allowed where it means absent.
 */
export const publishMembers: Override = ({ zodSchema, jsonSchema }) => {
  const shape = replacements.get(zodSchema._zod.def);
  if (shape) Object.assign(jsonSchema, structuredClone(convert(shape)));
  if (isClosed(zodSchema)) jsonSchema.additionalProperties = false;
  if (isNullAbsent(zodSchema) && !allowsNull(jsonSchema)) allowNull(jsonSchema);
};

function allowsNull(schema: JsonSchema): boolean {
  if (Array.isArray(schema.type) ? schema.type.includes('null') : schema.type === 'null') return true;
  return (schema.anyOf ?? schema.oneOf ?? []).some(
    option => typeof option === 'object' && allowsNull(option as JsonSchema),
  );
}

/** Keywords that stay beside the alternatives; the others move into the first of them. */
const annotations = new Set(['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly']);

function allowNull(schema: JsonSchema): void {
  const asserted = Object.entries(schema).filter(([name]) => !annotations.has(name));
  if (asserted.length === 0) return;
  for (const [name] of asserted) delete schema[name];
  schema.anyOf = [Object.fromEntries(asserted), { type: 'null' }];
}
