import type { JsonObject } from '#base/json-tree.ts';
import { createLineProblem, joinLines, type ListSection, readItem, shorten, splitByItem } from './blueprint-lines.ts';
import { decodeName } from './blueprint-uri.ts';

/** A parameter as its list item describes it. */
export interface BlueprintParameter {
  readonly number: number;
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly schema: JsonObject;
  readonly example: unknown;
}

const maxDescriptionLength = 1000;
/** Four spaces below `+ Parameters`, with room for one that is off. */
const maxItemIndent = 7;

const types: Readonly<Record<string, JsonObject>> = {
  string: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  object: { type: 'object' },
  enum: { type: 'string' },
  array: { type: 'array', items: { type: 'string' } },
};

/** Parameters of a section `+ Parameters`. */
export function parseParameters({ lines }: ListSection): BlueprintParameter[] {
  const indent = lines.find(line => readItem(line) !== undefined)?.indent ?? 0;
  return splitByItem(lines, () => true, Math.min(indent, maxItemIndent)).sections.map(parseParameter);
}

/** `name: example (type, required) - description`, or the older `name = default (required, type, example) ... text`. */
function parseParameter({ title, number, lines }: ListSection): BlueprintParameter {
  const [, quoted, plain] = /^(?:`([^`]{1,200})`|([A-Za-z0-9_.%$-]{1,200}))(?=[\s:=(]|$)/.exec(title) ?? [];
  const name = quoted ?? plain;
  if (name === undefined) throw createLineProblem(number, `the parameter ${shorten(title)} has no name`);
  const rest = title.slice(name.length + (quoted === undefined ? 0 : 2)).trim();
  const { before, attributes, after } = splitAttributes(rest);
  const given = readAttributes(attributes, number);
  const nested = readNested(lines);
  const isDefault = before.startsWith('=');
  const value = before.startsWith(':') || isDefault ? unquote(before.slice(1)) : '';
  const base = given.type ?? { type: 'string' };
  const fallback = toValue(nested.fallback || (isDefault ? value : ''), base);
  const described = [after.replace(/^(?:-|\.{3})\s*/, ''), nested.text].filter(Boolean).join('\n');
  return {
    number,
    name: decodeName(name),
    description: described.slice(0, maxDescriptionLength),
    isRequired: given.isRequired,
    schema: {
      ...base,
      ...(nested.values.length > 0 && { enum: nested.values.map(it => toValue(it, base) ?? it) }),
      ...(fallback !== undefined && { default: fallback }),
    },
    example: toValue((isDefault ? '' : value) || given.example, base),
  };
}

function splitAttributes(text: string) {
  const open = text.indexOf('(');
  const dash = findDescription(text);
  if (open < 0 || (dash >= 0 && dash < open))
    return {
      before: dash < 0 ? text : text.slice(0, dash).trim(),
      attributes: '',
      after: dash < 0 ? '' : text.slice(dash),
    };
  const close = text.indexOf(')', open);
  const end = close < 0 ? text.length : close;
  return {
    before: text.slice(0, open).trim(),
    attributes: text.slice(open + 1, end),
    after: text.slice(end + 1).trim(),
  };
}

/** Place of `- ` or `...` before the description. */
function findDescription(text: string): number {
  const places = [text.startsWith('- ') ? 0 : text.indexOf(' - '), text.indexOf('...')].filter(place => place >= 0);
  return places.length === 0 ? -1 : Math.min(...places);
}

function readAttributes(text: string, number: number) {
  let type: JsonObject | undefined;
  let isRequired = true;
  let example = '';
  for (const word of text
    .split(',')
    .map(it => it.trim())
    .filter(Boolean)) {
    const lower = word.toLowerCase();
    const typeName = /^([a-z]+)(?:\[[^\]]*\])?$/.exec(lower)?.[1] ?? '';
    if (lower === 'required' || lower === 'optional') isRequired = lower === 'required';
    else if (/^[`"'].*[`"']$/.test(word)) example = unquote(word);
    else if (Object.hasOwn(types, typeName)) type = types[typeName]!;
    else throw createLineProblem(number, `the attribute ${shorten(word)} of the parameter is not supported`);
  }
  return { type, isRequired, example };
}

/** `+ Default`, `+ Members` or the older `+ Values`, and further text. */
function readNested(lines: ListSection['lines']) {
  const { description, sections } = splitByItem(
    lines,
    title => /^(?:default|members|values|sample)\b/i.test(title),
    15,
  );
  const of = (name: RegExp) => sections.find(({ title }) => name.test(title));
  const members = of(/^(?:members|values)\b/i);
  const values = (members?.lines ?? []).flatMap(line => {
    const item = readItem(line);
    return item === undefined ? [] : [unquote(/^`[^`]*`|^[^\s(]+/.exec(item)?.[0] ?? item)];
  });
  const fallback = of(/^default\b/i)?.title.replace(/^default\s*:?/i, '') ?? '';
  return { text: joinLines(description), values, fallback: unquote(fallback) };
}

const unquote = (text: string) => {
  const trimmed = text.trim();
  const [first, last] = [trimmed[0], trimmed.at(-1)];
  return trimmed.length > 1 && first === last && '`"\''.includes(first!) ? trimmed.slice(1, -1) : trimmed;
};

/** Value of a type; undefined for an empty text, and where the text is no such value. */
function toValue(text: string, { type }: JsonObject): unknown {
  if (text === '') return undefined;
  if (type === 'number' || type === 'integer') {
    const number = Number(text);
    return Number.isFinite(number) && (type === 'number' || Number.isInteger(number)) ? number : undefined;
  }
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  return type === 'string' ? text : undefined;
}
