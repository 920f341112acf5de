import { arrayOrEmpty, type JsonObject, textOrEmpty } from '#base/json-tree.ts';
import { followReference } from '../files/api-reference.ts';
import { flattenSchema, readMembers } from '../files/flat-schema.ts';

/** Schema with the document that its references are in. */
export interface OwnedSchema {
  readonly schema: unknown;
  readonly document: JsonObject;
}

export interface SchemaComparison {
  /** A client sends what a request has, and reads what a response has: other changes are breaking. */
  readonly direction: 'request' | 'response';
  /** Schemas that are still compared: documents may have very many. */
  budget: { schemas: number };
  report(isBreaking: boolean, text: string): void;
}

const maxDepth = 6;
const maxNameChars = 100;

/** A name of a document as code of Markdown. */
export const toCode = (name: string): string =>
  `\`${name.replaceAll(/[`\p{Cc}\p{Zl}\p{Zp}]/gu, ' ').slice(0, maxNameChars)}\``;

/** Type of a schema, with its format; empty where it has none. */
export function formatTypes({ type, format }: JsonObject): string {
  const types = (Array.isArray(type) ? type : [type]).filter(it => typeof it === 'string');
  const name = types.sort().join(' or ');
  return (name && textOrEmpty(format) ? `${name} (${textOrEmpty(format)})` : name).slice(0, maxNameChars);
}

const readValues = ({ enum: values }: JsonObject) => new Set(arrayOrEmpty(values).map(it => JSON.stringify(it)));

/** Values of an enumeration: a request may send less, or a response have more. */
function compareValues(before: JsonObject, after: JsonObject, name: string, { direction, report }: SchemaComparison) {
  const [old, current] = [readValues(before), readValues(after)];
  const removed = [...old].filter(it => !current.has(it));
  const added = [...current].filter(it => !old.has(it));
  if (direction === 'request' && current.size > 0 && (old.size === 0 || removed.length > 0))
    report(true, `${name} accepts fewer values`);
  else if (old.size > 0 && current.size > 0 && added.length > 0) report(false, `${name} has further values`);
}

/** Reports what differs between two schemas, below `path`. */
export function compareSchemas(
  before: OwnedSchema,
  after: OwnedSchema,
  comparison: SchemaComparison,
  path = '',
  above: readonly unknown[] = [],
): void {
  const source = followReference(after.schema, after.document);
  if (above.length >= maxDepth || above.includes(source) || comparison.budget.schemas-- <= 0) return;
  const [old, current] = [before, after].map(it => flattenSchema(it.schema, it.document)) as [JsonObject, JsonObject];
  const name = path === '' ? `the ${comparison.direction} body` : `${comparison.direction} member ${toCode(path)}`;
  const [oldType, type] = [formatTypes(old), formatTypes(current)];
  if (oldType !== type && oldType !== '' && type !== '')
    return comparison.report(true, `${name} is ${toCode(type)}, was ${toCode(oldType)}`);
  compareValues(old, current, name, comparison);
  const inside = [...above, source];
  if (old.items !== undefined && current.items !== undefined) {
    const toItems = (items: unknown, { document }: OwnedSchema) => ({ schema: items, document });
    compareSchemas(toItems(old.items, before), toItems(current.items, after), comparison, `${path}[]`, inside);
  }
  compareMembers([old, before], [current, after], comparison, path, inside);
}

type FlatSchema = readonly [schema: JsonObject, owner: OwnedSchema];

function compareMembers(
  [old, before]: FlatSchema,
  [current, after]: FlatSchema,
  comparison: SchemaComparison,
  path: string,
  inside: readonly unknown[],
): void {
  const { direction, report } = comparison;
  const isRequest = direction === 'request';
  const [oldMembers, members] = [readMembers(old), readMembers(current)];
  const [oldRequired, required] = [arrayOrEmpty(old.required), arrayOrEmpty(current.required)];
  const toPath = (name: string) => (path === '' ? name : `${path}.${name}`);
  const describe = (name: string) => `${direction} member ${toCode(toPath(name))}`;
  for (const name of Object.keys(oldMembers))
    if (!Object.hasOwn(members, name)) report(!isRequest, `${describe(name)} removed`);
  for (const [name, schema] of Object.entries(members)) {
    const isRequired = required.includes(name);
    const wasRequired = oldRequired.includes(name);
    if (!Object.hasOwn(oldMembers, name)) {
      const mustSend = isRequest && isRequired;
      report(mustSend, `${mustSend ? 'required ' : ''}${describe(name)} added`);
      continue;
    }
    if (isRequest && isRequired && !wasRequired) report(true, `${describe(name)} is required now`);
    if (!isRequest && wasRequired && !isRequired) report(true, `${describe(name)} may be absent now`);
    const oldMember = { schema: oldMembers[name], document: before.document };
    compareSchemas(oldMember, { schema, document: after.document }, comparison, toPath(name), inside);
  }
}
