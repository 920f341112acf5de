import { escapeMarkup } from '#base/escape-markup.ts';
import type { Json } from '#base/json.ts';
import { isObject } from '#base/json-tree.ts';

export type SchemaObject = { [name: string]: Json };

/** Deeper members are left out; the definition schemas need twelve. */
const maxDepth = 16;
const maxEnumValues = 12;

interface Member {
  readonly name: string;
  readonly schema: SchemaObject;
  readonly isRequired: boolean;
}

/**
 * Members of a schema as nested lists, required ones first, each level below the first closed. Empty for a schema
 * without members.
 */
export function renderMembers(schema: SchemaObject, depth = 0): string {
  const members = listMembers(schema).toSorted((a, b) => order(a) - order(b));
  if (members.length === 0 || depth > maxDepth) return '';
  return `<ul class="members">${members.map(it => renderMember(it, depth)).join('')}</ul>`;
}

const order = ({ isRequired, schema }: Member) => (isRequired ? 0 : schema.readOnly === true ? 2 : 1);

function renderMember({ name, schema, isRequired }: Member, depth: number): string {
  const marks = [...(isRequired ? ['required'] : []), ...(schema.readOnly === true ? ['read only'] : [])];
  const type = `<span class="type">${escapeMarkup(describeType(schema))}</span>`;
  const labels = marks.map(mark => `<span class="mark">${mark}</span>`);
  const line = [`<code>${escapeMarkup(name)}</code>`, type, ...labels].join(' ');
  const text = typeof schema.description === 'string' ? `<p>${escapeMarkup(schema.description)}</p>` : '';
  const nested = renderMembers(schema, depth + 1);
  return nested ? `<li><details><summary>${line}</summary>${text}${nested}</details></li>` : `<li>${line}${text}</li>`;
}

function listMembers(schema: SchemaObject): Member[] {
  if (isObject(schema.items)) return listMembers(schema.items as SchemaObject);
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const own = Object.entries((schema.properties ?? {}) as { [name: string]: SchemaObject }).map(([name, rule]) => ({
    name,
    schema: rule,
    isRequired: required.has(name),
  }));
  const rest = schema.additionalProperties;
  const named = isObject(rest) ? [{ name: 'any name', schema: rest as SchemaObject, isRequired: false }] : [];
  return [...own, ...named, ...listVariants(schema)];
}

/** A single variant besides null is the schema itself; several are listed one by one. */
function listVariants(schema: SchemaObject): Member[] {
  const variants = variantsOf(schema).filter(it => listMembers(it).length > 0);
  if (variants.length === 1) return listMembers(variants[0]!);
  return variants.map((variant, at) => ({ name: `variant ${at + 1}`, schema: variant, isRequired: false }));
}

const variantsOf = (schema: SchemaObject): SchemaObject[] =>
  ['anyOf', 'oneOf', 'allOf'].flatMap(key => (Array.isArray(schema[key]) ? (schema[key] as SchemaObject[]) : []));

/** Type and bounds in one line: `string, 1 to 64 characters`. Without null, which every optional member accepts. */
export function describeType(schema: SchemaObject): string {
  return [nameType(schema), ...describeBounds(schema)].join(', ');
}

function nameType(schema: SchemaObject): string {
  if (Array.isArray(schema.enum)) return describeEnum(schema.enum);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const variants = variantsOf(schema).filter(({ type }) => type !== 'null');
  if (variants.length > 0) return [...new Set(variants.map(describeType))].join(' or ');
  if (isObject(schema.items)) return `array of ${describeType(schema.items as SchemaObject)}`;
  if (Array.isArray(schema.type)) return schema.type.filter(it => it !== 'null').join(' or ');
  if (typeof schema.type !== 'string') return schema.properties ? 'object' : 'any value';
  return typeof schema.format === 'string' ? `${schema.type} (${schema.format})` : schema.type;
}

function describeEnum(values: readonly Json[]): string {
  const shown = values.slice(0, maxEnumValues).map(it => JSON.stringify(it));
  const more = values.length - shown.length;
  return `one of ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Pairs of keywords, and the unit they count. */
const bounds: readonly (readonly [min: string, max: string, unit: string])[] = [
  ['minLength', 'maxLength', ' characters'],
  ['minItems', 'maxItems', ' items'],
  ['minimum', 'maximum', ''],
];

/** False for the safe-integer bounds that zod adds to every integer. */
const isBound = (value: Json | undefined): value is number =>
  typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER;

function describeBounds(schema: SchemaObject): string[] {
  const ranges = bounds.flatMap(([min, max, unit]) => {
    const from = schema[min];
    const to = schema[max];
    if (isBound(from) && isBound(to)) return [`${from} to ${to}${unit}`];
    if (isBound(to)) return [`at most ${to}${unit}`];
    return isBound(from) ? [`at least ${from}${unit}`] : [];
  });
  return schema.default === undefined ? ranges : [...ranges, `default ${JSON.stringify(schema.default)}`];
}
