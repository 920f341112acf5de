import type { Json } from '#base/json.ts';
import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import type { OpenApi } from './document.ts';

/** Beyond these an example says nothing new, and schemas that hold themselves would never end. */
const mostDepth = 8;
const mostValues = 1000;
const longestText = 1000;

/** Values that are right for texts of a format; always the same. */
const texts: Readonly<Record<string, string>> = {
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

/** A value that a schema could mean, the same one every time. */
export function exampleOf(schema: unknown, document: OpenApi): Json {
  let left = mostValues;

  function made(given: unknown, depth: number): Json | undefined {
    if (--left < 0 || depth > mostDepth) return undefined;
    if (!isObject(given)) return null;
    const it = document.follow(given);
    const said = spoken(it);
    if (said !== undefined) return said;
    if (Array.isArray(it.allOf)) return merged(it, depth);
    const [first] = [...arrayOrEmpty(it.oneOf), ...arrayOrEmpty(it.anyOf)];
    if (first !== undefined) return made(first, depth + 1);
    return ofType(it, depth);
  }

  function ofType(it: JsonObject, depth: number): Json | undefined {
    const [type] = (Array.isArray(it.type) ? it.type : [it.type]).filter(name => name !== 'null');
    if (type === 'object' || (type === undefined && isObject(it.properties))) return objectOf(it, depth);
    if (type === 'array' || (type === undefined && it.items !== undefined)) return arrayOf(it, depth);
    if (type === 'string') return textOf(it);
    if (type === 'number' || type === 'integer') return numberOf(it, type === 'integer');
    return type === 'boolean' ? true : null;
  }

  /** What cannot be made is left out, unless it must be there. */
  function objectOf(it: JsonObject, depth: number): Json {
    const required = arrayOrEmpty(it.required);
    const members: [string, Json][] = [];
    for (const [name, schema] of Object.entries(objectOrEmpty(it.properties))) {
      if (isObject(schema) && document.follow(schema).writeOnly === true) continue;
      const value = made(schema, depth + 1);
      if (value !== undefined || required.includes(name)) members.push([name, value ?? null]);
    }
    return Object.fromEntries(members);
  }

  function arrayOf(it: JsonObject, depth: number): Json {
    const least = typeof it.minItems === 'number' ? Math.min(Math.max(it.minItems, 1), 10) : 1;
    const item = made(it.items ?? {}, depth + 1);
    return item === undefined ? [] : Array.from({ length: it.maxItems === 0 ? 0 : least }, () => item);
  }

  function merged(it: JsonObject, depth: number): Json | undefined {
    const { allOf, ...own } = it;
    const parts = [...arrayOrEmpty(allOf), own].map(part => made(part, depth + 1));
    const objects = parts.filter(part => isObject(part));
    if (objects.length === 0) return parts.find(part => part !== undefined && part !== null);
    return Object.fromEntries(objects.flatMap(part => Object.entries(part as JsonObject))) as Json;
  }

  return made(schema, 0) ?? null;
}

/** What the schema itself gives as an example. */
function spoken(it: JsonObject): Json | undefined {
  const [first] = arrayOrEmpty(it.examples);
  const [choice] = arrayOrEmpty(it.enum);
  return [it.example, first, it.default, it.const, choice].find(value => value !== undefined) as Json | undefined;
}

function textOf({ format, minLength, maxLength }: JsonObject): string {
  const plain = typeof format === 'string' && Object.hasOwn(texts, format) ? texts[format]! : 'string';
  const least = typeof minLength === 'number' ? Math.min(minLength, longestText) : 0;
  const most = typeof maxLength === 'number' ? Math.max(maxLength, 0) : longestText;
  return plain.padEnd(least, 'string').slice(0, most);
}

function numberOf(
  { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonObject,
  isInteger: boolean,
): number {
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : isInteger ? 1 : 0;
  const least = typeof minimum === 'number' ? minimum : Number.NEGATIVE_INFINITY;
  const most = typeof maximum === 'number' ? maximum : Number.POSITIVE_INFINITY;
  const above = exclusiveMinimum === true ? least : typeof exclusiveMinimum === 'number' ? exclusiveMinimum : undefined;
  const below = exclusiveMaximum === true ? most : typeof exclusiveMaximum === 'number' ? exclusiveMaximum : undefined;
  const low = Math.max(least, above === undefined ? Number.NEGATIVE_INFINITY : above + (step || 0.5));
  const high = Math.min(most, below === undefined ? Number.POSITIVE_INFINITY : below - (step || 0.5));
  if (low <= 0 && high >= 0) return 0;
  const wanted = low > 0 ? low : high;
  if (step === 0) return wanted;
  return (low > 0 ? Math.ceil(wanted / step) : Math.floor(wanted / step)) * step;
}
