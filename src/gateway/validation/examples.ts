import type { Json } from '#base/json.ts';
import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import type { OpenApiDocument } from './openapi-document.ts';

/** Bounds of a generated example: recursive schemas would not end. */
const maxDepth = 8;
const maxValues = 1000;
const maxTextChars = 1000;

/** Valid strings by format. */
const formatExamples: Readonly<Record<string, string>> = {
  date: '2020-01-01',
  'date-time': '2020-01-01T00:00:00Z',
  time: '00:00:00Z',
  duration: 'P1D',
  email: 'user@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
  byte: 'c3RyaW5n',
};

/** Generates a deterministic example of a schema. */
export function generateExample(schema: unknown, document: OpenApiDocument): Json {
  let remaining = maxValues;

  function generate(given: unknown, depth: number): Json | undefined {
    if (--remaining < 0 || depth > maxDepth) return undefined;
    if (!isObject(given)) return null;
    const it = document.dereference(given);
    const givenExample = findGivenExample(it);
    if (givenExample !== undefined) return givenExample;
    if (Array.isArray(it.allOf)) return mergeAllOf(it, depth);
    const [first] = [...arrayOrEmpty(it.oneOf), ...arrayOrEmpty(it.anyOf)];
    if (first !== undefined) return generate(first, depth + 1);
    return generateByType(it, depth);
  }

  function generateByType(it: JsonObject, depth: number): Json | undefined {
    const [type] = (Array.isArray(it.type) ? it.type : [it.type]).filter(name => name !== 'null');
    if (type === 'object' || (type === undefined && isObject(it.properties))) return generateObject(it, depth);
    if (type === 'array' || (type === undefined && it.items !== undefined)) return generateArray(it, depth);
    if (type === 'string') return generateString(it);
    if (type === 'number' || type === 'integer') return generateNumber(it, type === 'integer');
    return type === 'boolean' ? true : null;
  }

  /** A property beyond the bounds is left out, unless it is required. */
  function generateObject(it: JsonObject, depth: number): Json {
    const required = arrayOrEmpty(it.required);
    const members: [string, Json][] = [];
    for (const [name, schema] of Object.entries(objectOrEmpty(it.properties))) {
      if (isObject(schema) && document.dereference(schema).writeOnly === true) continue;
      const value = generate(schema, depth + 1);
      if (value !== undefined || required.includes(name)) members.push([name, value ?? null]);
    }
    return Object.fromEntries(members);
  }

  function generateArray(it: JsonObject, depth: number): Json {
    const minItems = typeof it.minItems === 'number' ? Math.min(Math.max(it.minItems, 1), 10) : 1;
    const item = generate(it.items ?? {}, depth + 1);
    return item === undefined ? [] : Array.from({ length: it.maxItems === 0 ? 0 : minItems }, () => item);
  }

  function mergeAllOf(it: JsonObject, depth: number): Json | undefined {
    const { allOf, ...own } = it;
    const parts = [...arrayOrEmpty(allOf), own].map(part => generate(part, depth + 1));
    const objects = parts.filter(part => isObject(part));
    if (objects.length === 0) return parts.find(part => part !== undefined && part !== null);
    return Object.fromEntries(objects.flatMap(part => Object.entries(part as JsonObject))) as Json;
  }

  return generate(schema, 0) ?? null;
}

/** The schema's own `example`, `examples`, `default`, `const` or `enum` value. */
function findGivenExample(it: JsonObject): Json | undefined {
  const [first] = arrayOrEmpty(it.examples);
  const [choice] = arrayOrEmpty(it.enum);
  return [it.example, first, it.default, it.const, choice].find(value => value !== undefined) as Json | undefined;
}

function generateString({ format, minLength, maxLength }: JsonObject): string {
  const plain =
    typeof format === 'string' && Object.hasOwn(formatExamples, format) ? formatExamples[format]! : 'string';
  const minChars = typeof minLength === 'number' ? Math.min(minLength, maxTextChars) : 0;
  const maxChars = typeof maxLength === 'number' ? Math.max(maxLength, 0) : maxTextChars;
  return plain.padEnd(minChars, 'string').slice(0, maxChars);
}

function generateNumber(
  { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonObject,
  isInteger: boolean,
): number {
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : isInteger ? 1 : 0;
  const lowest = typeof minimum === 'number' ? minimum : Number.NEGATIVE_INFINITY;
  const highest = typeof maximum === 'number' ? maximum : Number.POSITIVE_INFINITY;
  const above =
    exclusiveMinimum === true ? lowest : typeof exclusiveMinimum === 'number' ? exclusiveMinimum : undefined;
  const below =
    exclusiveMaximum === true ? highest : typeof exclusiveMaximum === 'number' ? exclusiveMaximum : undefined;
  const low = Math.max(lowest, above === undefined ? Number.NEGATIVE_INFINITY : above + (step || 0.5));
  const high = Math.min(highest, below === undefined ? Number.POSITIVE_INFINITY : below - (step || 0.5));
  if (low <= 0 && high >= 0) return 0;
  const bound = low > 0 ? low : high;
  if (step === 0) return bound;
  return (low > 0 ? Math.ceil(bound / step) : Math.floor(bound / step)) * step;
}
