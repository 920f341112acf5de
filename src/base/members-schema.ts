import type { z } from 'zod';
import { isClosed, isNullAbsent } from './members.ts';

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>;
type JsonSchema = Parameters<Override>[0]['jsonSchema'];

/**
 * The `override` of `z.toJSONSchema` for request bodies that `checkMembers` walks: objects are closed where unknown
 * members are refused, and `null` is allowed where it means absent.
 */
export const publishMembers: Override = ({ zodSchema, jsonSchema }) => {
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
