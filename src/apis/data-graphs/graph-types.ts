import { toJsonPointer } from '#base/json-pointer.ts';
import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty, textOrEmpty } from '#base/json-tree.ts';
import type { Warnings } from '../convert/converted.ts';
import { createGraphNames, type GraphNames, isGraphqlName, toGraphqlName, toTypeName } from './graph-names.ts';
import { type DocumentPart, resolveLocalReference } from './local-reference.ts';
import { createDocumentProblem } from './problems.ts';

export type TypeUse = 'output' | 'input';

/** Path of a value in a response, where the field has another name. */
export interface FieldMapping {
  readonly type_name: string;
  readonly field_name: string;
  readonly disable_default_mapping: true;
  readonly path: readonly string[];
}

/** Types of a schema, from the JSON Schemas of a document. */
export interface GraphTypes {
  /** Type of a value; `name` is that of a type without one of its own. */
  toType(schema: unknown, place: string, name: string, use: TypeUse): string;
  readonly mappings: readonly FieldMapping[];
  print(): string;
}

const maxTypes = 2000;
const maxMembers = 1000;
/** Fields of all types together: combined schemas repeat those of their parts. */
const maxTotalMembers = 20_000;
/** Items that are read again for each use: merged properties, required names and values of enums. */
const maxTotalItems = 100_000;
/** JSON Schema has seven types. */
const maxKinds = 7;
const maxSchemaNesting = 32;
const maxCombined = 50;
const anyType = 'JSON';
const rootNames = ['Query', 'Mutation', 'Subscription', 'Int', 'Float', 'String', 'Boolean', 'ID', anyType];

interface Context {
  readonly use: TypeUse;
  readonly depth: number;
  readonly name: string;
}

/** Types so far. */
interface Building {
  readonly root: JsonObject;
  readonly warnings: Warnings;
  readonly names: GraphNames;
  /** Type of each schema of the document by use: references share it. */
  readonly converted: Readonly<Record<TypeUse, Map<JsonObject, string>>>;
  readonly definitions: string[];
  readonly mappings: FieldMapping[];
  typeCount: number;
  memberCount: number;
  itemCount: number;
  usesAny: boolean;
}

/** Converts schemas to types: what GraphQL cannot express becomes the scalar JSON. */
export function createGraphTypes(root: JsonObject, warnings: Warnings): GraphTypes {
  const names = createGraphNames(rootNames);
  const building: Building = {
    ...{ root, warnings, names, converted: { output: new Map(), input: new Map() }, definitions: [], mappings: [] },
    ...{ typeCount: 0, memberCount: 0, itemCount: 0, usesAny: false },
  };
  const { mappings, definitions } = building;
  return {
    mappings,
    toType: (schema, place, name, use) => toType(building, schema, place, { use, name, depth: 0 }),
    print: () => [...(building.usesAny ? [`scalar ${anyType}`] : []), ...definitions].join('\n\n'),
  };
}

function toAny(building: Building): string {
  building.usesAny = true;
  return anyType;
}

function toType(building: Building, schema: unknown, place: string, context: Context): string {
  if (!isObject(schema)) return toAny(building);
  if (context.depth > maxSchemaNesting) {
    // The place last: it is long, and warnings are cut.
    building.warnings.add(`schema nested deeper than ${maxSchemaNesting} levels: its type is JSON: ${place}`);
    return toAny(building);
  }
  const part = resolveLocalReference(building.root, schema, place);
  const own = part.place === place ? context.name : part.place.slice(part.place.lastIndexOf('/') + 1);
  const known = building.converted[context.use];
  const found = known.get(part.value);
  if (found !== undefined) return found;
  const type = convert(building, part, { ...context, name: own, depth: context.depth + 1 });
  known.set(part.value, type);
  return type;
}

/** Counts items against one bound of the document. */
function countItems(building: Building, count: number, place: string): void {
  building.itemCount += count;
  if (building.itemCount > maxTotalItems)
    throw createDocumentProblem(place, `the schemas combine more than ${maxTotalItems} properties, names and values`);
}

function convert(building: Building, part: DocumentPart, context: Context): string {
  const merged = mergeAll(building, part);
  if (!merged) return toAny(building);
  const { value, place } = merged;
  const kind = findKind(value);
  if (kind === 'array') {
    const item = toType(building, value.items, `${place}/items`, { ...context, name: `${context.name}Item` });
    return `[${item}]`;
  }
  if (kind === 'object') return convertObject(building, merged, part.value, context);
  if (kind === 'string' && Array.isArray(value.enum)) return convertEnum(building, value.enum, part, context);
  if (kind === 'integer') return value.format === 'int64' ? 'Float' : 'Int';
  return scalarTypes.get(kind) ?? toAny(building);
}

/** Names a type before its members are converted: they can refer to it. */
function startType(building: Building, name: string, use: TypeUse, { value, place }: DocumentPart): string {
  if (++building.typeCount > maxTypes)
    throw createDocumentProblem(place, `the document has more than ${maxTypes} types`);
  const taken = building.names.take(toTypeName(name));
  building.converted[use].set(value, taken);
  return taken;
}

function convertEnum(building: Building, values: readonly unknown[], part: DocumentPart, context: Context): string {
  countItems(building, values.length, `${part.place}/enum`);
  const texts = values.filter(value => value !== null);
  const isNamed = texts.every(it => typeof it === 'string' && isGraphqlName(it) && !reservedValues.has(it));
  if (!isNamed || texts.length === 0 || texts.length > maxMembers) return 'String';
  const type = startType(building, context.name, context.use, part);
  building.definitions.push(`enum ${type} { ${[...new Set(texts)].join(' ')} }`);
  return type;
}

function convertObject(building: Building, merged: DocumentPart, own: JsonObject, context: Context): string {
  const { value, place } = merged;
  const { use, name } = context;
  const properties = Object.entries(objectOrEmpty(value.properties));
  const members = properties.slice(0, maxMembers);
  if (properties.length > maxMembers)
    building.warnings.add(`${place}: ${properties.length - maxMembers} properties beyond ${maxMembers} are left out`);
  if (members.length === 0) return toAny(building);
  building.memberCount += members.length;
  if (building.memberCount > maxTotalMembers)
    throw createDocumentProblem(place, `the document has more than ${maxTotalMembers} properties`);
  if (use === 'input' && !members.every(([member]) => isGraphqlName(member))) {
    building.warnings.add(`${place}: names that GraphQL does not have: its type is JSON`);
    return toAny(building);
  }
  const type = startType(building, use === 'input' ? `${name}Input` : name, use, { value: own, place });
  const needed = use === 'input' ? arrayOrEmpty(value.required) : [];
  countItems(building, needed.length, `${place}/required`);
  const required = new Set(needed);
  const fieldNames = createGraphNames();
  const fields = members.map(([member, schema]) => {
    const field = fieldNames.take(toGraphqlName(member));
    const below = { ...context, name: `${name} ${member}` };
    const inner = toType(building, schema, `${place}${toJsonPointer(['properties', member])}`, below);
    if (field !== member)
      building.mappings.push({ type_name: type, field_name: field, disable_default_mapping: true, path: [member] });
    return `  ${field}: ${inner}${required.has(member) ? '!' : ''}`;
  });
  building.definitions.push(`${use === 'input' ? 'input' : 'type'} ${type} {\n${fields.join('\n')}\n}`);
  return type;
}

const scalarTypes: ReadonlyMap<string, string> = new Map([
  ['string', 'String'],
  ['number', 'Float'],
  ['boolean', 'Boolean'],
]);
const reservedValues: ReadonlySet<string> = new Set(['true', 'false', 'null']);

/** The only type of a schema; empty where there are several, or none that GraphQL has. */
function findKind({ type, properties, items }: JsonObject): string {
  if (Array.isArray(type) && type.length > maxKinds) return '';
  const types = (Array.isArray(type) ? type : [type]).map(textOrEmpty).filter(it => it !== '' && it !== 'null');
  if (types.length > 1) return '';
  return types[0] ?? (isObject(properties) ? 'object' : isObject(items) ? 'array' : '');
}

/** Merges `allOf` of objects; undefined for other combinations, which have no type of GraphQL. */
function mergeAll(building: Building, part: DocumentPart): DocumentPart | undefined {
  const { value, place } = part;
  if (value.oneOf !== undefined || value.anyOf !== undefined || value.not !== undefined) return undefined;
  const all = arrayOrEmpty(value.allOf);
  if (all.length === 0) return part;
  if (all.length > maxCombined) throw createDocumentProblem(`${place}/allOf`, `has more than ${maxCombined} schemas`);
  const parts = all.map((it, at) => resolveLocalReference(building.root, it, `${place}/allOf/${at}`).value);
  const { allOf: _combined, ...own } = value;
  if (parts.length === 1 && Object.keys(own).length === 0) return { value: parts[0]!, place };
  const merged = [...parts, own];
  if (merged.some(it => it.allOf !== undefined || it.oneOf !== undefined || it.anyOf !== undefined)) return undefined;
  const properties = Object.create(null);
  for (const it of merged) {
    const entries = Object.entries(objectOrEmpty(it.properties));
    countItems(building, entries.length, `${place}/allOf`);
    for (const [name, schema] of entries) properties[name] = schema;
  }
  if (Object.keys(properties).length === 0) return { value: { type: 'object' }, place };
  for (const it of merged) countItems(building, arrayOrEmpty(it.required).length, `${place}/allOf`);
  return { value: { type: 'object', properties, required: merged.flatMap(it => arrayOrEmpty(it.required)) }, place };
}
