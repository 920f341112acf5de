import { type SchemaCheck, ValidationRun } from '#languages/json-schema/run.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { readSchemaInfo, type SchemaInfo } from './schema-info.ts';

/** A serialized parameter or form value: a text, a list, or texts by name. */
export type SerializedValue = string | readonly string[] | Readonly<Record<string, string | readonly string[]>>;

/** Coerces texts to the types of a schema. A text that fits no type stays a string and then fails validation. */
export interface Coercion {
  readonly info: SchemaInfo;
  coerce(written: SerializedValue): unknown;
}

/** Arrays and objects hold primitives: no parameter style serializes deeper values. */
export function compileCoercion(schema: unknown, document: OpenApiDocument, depth = 0): Coercion {
  const facts = readSchemaInfo(schema, document);
  const coercePrimitive = compilePrimitive(facts.types, document.compileSchema(schema));
  if (depth > 1)
    return { info: facts, coerce: written => (typeof written === 'string' ? coercePrimitive(written) : written) };
  const item = facts.items === undefined ? undefined : compileCoercion(facts.items, document, depth + 1);
  const members = new Map([...facts.properties].map(([name, it]) => [name, compileCoercion(it, document, depth + 1)]));
  const additional =
    facts.additional === undefined ? undefined : compileCoercion(facts.additional, document, depth + 1);
  const coerceItems = (texts: readonly string[]) => texts.map(text => (item ? item.coerce(text) : text));
  return {
    info: facts,
    coerce(written) {
      if (typeof written === 'string')
        return facts.types.has('array') && depth > 0 ? coerceItems([written]) : coercePrimitive(written);
      if (Array.isArray(written)) return coerceItems(written);
      const entries = Object.entries(written as Record<string, string | readonly string[]>);
      // A member may be named `__proto__`: `fromEntries` defines it as an own property.
      return Object.fromEntries(
        entries.map(([name, it]) => [name, (members.get(name) ?? additional)?.coerce(it) ?? it]),
      );
    },
  };
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Steps of the trial validation of one reading. */
const maxTrialSteps = 10_000;

function compilePrimitive(types: ReadonlySet<string>, check: SchemaCheck): (text: string) => unknown {
  const any = types.size === 0;
  const number = any || types.has('number') || types.has('integer');
  const boolean = any || types.has('boolean');
  const string = any || types.has('string');
  return text => {
    const readings: unknown[] = [];
    if (number && jsonNumber.test(text)) readings.push(Number(text));
    if (boolean && (text === 'true' || text === 'false')) readings.push(text === 'true');
    if (types.has('null') && (text === '' || text === 'null')) readings.push(null);
    if (string || readings.length === 0) readings.push(text);
    if (readings.length === 1) return readings[0];
    const fitting = readings.find(reading => new ValidationRun(maxTrialSteps).checkSilently(check, reading));
    return fitting === undefined ? readings[0] : fitting;
  };
}
