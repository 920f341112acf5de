import { arrayOrEmpty, isObject, type JsonObject, textOrEmpty } from '#base/json-tree.ts';
import { followReference } from '../../files/api-reference.ts';
import { flattenSchema, maxMembers, readMembers } from '../../files/flat-schema.ts';
import { html, type Markup } from '../markup.ts';

/** Schemas as nested lists, and example values of them. Both are bounded: schemas may contain themselves. */
const maxDepth = 6;
const maxChoices = 50;

/** Name of a reference: `#/components/schemas/Order` is `Order`. */
const nameOf = (value: unknown) => (isObject(value) ? textOrEmpty(value.$ref).split('/').at(-1)! : '');

const choicesOf = (schema: JsonObject) => [...arrayOrEmpty(schema.oneOf), ...arrayOrEmpty(schema.anyOf)];

function formatType(value: unknown, document: JsonObject): string {
  const schema = flattenSchema(value, document);
  const types = Array.isArray(schema.type)
    ? schema.type.filter(it => typeof it === 'string').join(' or ')
    : schema.type;
  if (schema.type === 'array') return `array of ${nameOf(schema.items) || formatItems(schema.items, document)}`;
  const choices = choicesOf(schema).slice(0, maxChoices);
  if (choices.length > 0) return `one of ${choices.map(it => nameOf(it) || 'object').join(', ')}`;
  const name = textOrEmpty(types) || (isObject(schema.properties) ? 'object' : 'any');
  return textOrEmpty(schema.format) ? `${name} (${textOrEmpty(schema.format)})` : name;
}

const formatItems = (items: unknown, document: JsonObject) => textOrEmpty(flattenSchema(items, document).type) || 'any';

const formatShort = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, 200);

/** Limits of values: `minimum 1, maximum 10`. */
function listLimits(schema: JsonObject): string[] {
  const names = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern', 'default', 'const'];
  const limits = names.filter(name => schema[name] !== undefined).map(name => `${name} ${formatShort(schema[name])}`);
  const values = arrayOrEmpty(schema.enum);
  return values.length > 0 ? [`one of ${values.slice(0, maxChoices).map(formatShort).join(', ')}`, ...limits] : limits;
}

interface Progress {
  members: number;
}

export const renderSchema = (value: unknown, document: JsonObject): Markup =>
  html`<p class="dim">${nameOf(value) || formatType(value, document)}</p>
${renderMembers(value, document, [], { members: 0 })}`;

/** Members of an object, or of the items of an array; a schema inside itself is named only. */
function renderMembers(
  value: unknown,
  document: JsonObject,
  above: readonly unknown[],
  progress: Progress,
): Markup | '' {
  const schema = flattenSchema(value, document);
  const source = followReference(value, document);
  if (above.length >= maxDepth || above.includes(source)) return '';
  const inside = [...above, source];
  if (schema.items !== undefined) return renderMembers(schema.items, document, inside, progress);
  const [choice] = choicesOf(schema);
  const properties = Object.entries(readMembers(schema));
  if (properties.length === 0) return choice === undefined ? '' : renderMembers(choice, document, inside, progress);
  const required = arrayOrEmpty(schema.required);
  const rows = properties.slice(0, maxMembers).map(([name, member]) => {
    progress.members++;
    if (progress.members > maxMembers) return '';
    const own = flattenSchema(member, document);
    const limits = listLimits(own);
    return html`<li><code>${name}</code> <span class="dim">${nameOf(member) || formatType(member, document)}</span>
${required.includes(name) ? html` <span class="badge">required</span>` : ''}
${own.deprecated === true ? html` <span class="badge warning">deprecated</span>` : ''}
${limits.length > 0 ? html`<p class="dim">${limits.join(', ')}</p>` : ''}
${textOrEmpty(own.description) ? html`<p>${textOrEmpty(own.description)}</p>` : ''}
${renderMembers(member, document, inside, progress)}</li>`;
  });
  const isCut = properties.length > maxMembers || progress.members > maxMembers;
  return html`<ul class="schema">${rows}${isCut ? html`<li class="dim">Further members are in the document.</li>` : ''}</ul>`;
}

const plainExamples: Readonly<Record<string, unknown>> = { string: 'text', integer: 1, number: 1.5, boolean: true };
const formatExamples: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T12:00:00Z',
  date: '2026-01-31',
  email: 'ann@example.org',
  uuid: '3f2c1d9e-6a4b-4c7d-8e5f-0a1b2c3d4e5f',
  uri: 'https://example.org/',
};

/** An example of a schema: its own, or one made of its types. */
export function buildSchemaExample(
  value: unknown,
  document: JsonObject,
  above: readonly unknown[] = [],
  progress: Progress = { members: 0 },
): unknown {
  const schema = flattenSchema(value, document);
  const source = followReference(value, document);
  const own = [
    schema.example,
    arrayOrEmpty(schema.examples)[0],
    schema.default,
    schema.const,
    arrayOrEmpty(schema.enum)[0],
  ];
  const given = own.find(it => it !== undefined);
  if (given !== undefined) return given;
  if (above.length >= maxDepth || above.includes(source)) return null;
  const inside = [...above, source];
  if (schema.items !== undefined) return [buildSchemaExample(schema.items, document, inside, progress)];
  const [choice] = choicesOf(schema);
  if (choice !== undefined && !isObject(schema.properties))
    return buildSchemaExample(choice, document, inside, progress);
  if (isObject(schema.properties)) {
    const entries = Object.entries(readMembers(schema)).slice(0, maxChoices);
    progress.members += entries.length;
    if (progress.members > maxMembers) return {};
    return Object.fromEntries(entries.map(([name, it]) => [name, buildSchemaExample(it, document, inside, progress)]));
  }
  const type = textOrEmpty(Array.isArray(schema.type) ? schema.type[0] : schema.type);
  const format = textOrEmpty(schema.format);
  if (type === 'string' && Object.hasOwn(formatExamples, format)) return formatExamples[format];
  return Object.hasOwn(plainExamples, type) ? plainExamples[type] : type === 'array' ? [] : {};
}
