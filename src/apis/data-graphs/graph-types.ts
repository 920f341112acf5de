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
  /** Type names by use and place. */
  readonly named: Map<string, string>;
  readonly definitions: string[];
  readonly mappings: FieldMapping[];
  typeCount: number;
  memberCount: number;
  usesAny: boolean;
}

/** Converts schemas to types: what GraphQL cannot express becomes the scalar JSON. */
export function createGraphTypes(root: JsonObject, warnings: Warnings): GraphTypes {
  const names = createGraphNames(rootNames);
  const building: Building = {
    ...{ root, warnings, names, named: new Map(), definitions: [], mappings: [] },
    ...{ typeCount: 0, memberCount: 0, usesAny: false },
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
  if (!isObject(schema) || context.depth > maxSchemaNesting) return toAny(building);
  const part = resolveLocalReference(building.root, schema, place);
  const own = part.place === place ? context.name : part.place.slice(part.place.lastIndexOf('/') + 1);
  const key = `${context.use} ${part.place}`;
  return building.named.get(key) ?? convert(building, part, key, { ...context, name: own, depth: context.depth + 1 });
}

function convert(building: Building, part: DocumentPart, key: string, context: Context): string {
  const merged = mergeAll(building.root, part);
  if (!merged) return toAny(building);
  const { value, place } = merged;
  const kind = findKind(value);
  if (kind === 'array') {
    const item = toType(building, value.items, `${place}/items`, { ...context, name: `${context.name}Item` });
    return `[${item}]`;
  }
  if (kind === 'object') return convertObject(building, merged, key, context);
  if (kind === 'string' && Array.isArray(value.enum))
    return convertEnum(building, value.enum, key, part.place, context);
  if (kind === 'integer') return value.format === 'int64' ? 'Float' : 'Int';
  return scalarTypes.get(kind) ?? toAny(building);
}

function startType(building: Building, name: string, key: string, place: string): string {
  if (++building.typeCount > maxTypes)
    throw createDocumentProblem(place, `the document has more than ${maxTypes} types`);
  const taken = building.names.take(toTypeName(name));
  building.named.set(key, taken);
  return taken;
}

function convertEnum(
  building: Building,
  values: readonly unknown[],
  key: string,
  place: string,
  { name }: Context,
): string {
  const texts = values.filter(value => value !== null);
  const isNamed = texts.every(it => typeof it === 'string' && isGraphqlName(it) && !reservedValues.has(it));
  if (!isNamed || texts.length === 0 || texts.length > maxMembers) return 'String';
  const type = startType(building, name, key, place);
  building.definitions.push(`enum ${type} { ${[...new Set(texts)].join(' ')} }`);
  return type;
}

function convertObject(building: Building, { value, place }: DocumentPart, key: string, context: Context): string {
  const { use, name } = context;
  const members = Object.entries(objectOrEmpty(value.properties)).slice(0, maxMembers);
  if (members.length === 0) return toAny(building);
  building.memberCount += members.length;
  if (building.memberCount > maxTotalMembers)
    throw createDocumentProblem(place, `the document has more than ${maxTotalMembers} properties`);
  if (use === 'input' && !members.every(([member]) => isGraphqlName(member))) {
    building.warnings.add(`${place}: names that GraphQL does not have: its type is JSON`);
    return toAny(building);
  }
  const type = startType(building, use === 'input' ? `${name}Input` : name, key, place);
  const required = new Set(arrayOrEmpty(value.required));
  const fieldNames = createGraphNames();
  const fields = members.map(([member, schema]) => {
    const field = fieldNames.take(toGraphqlName(member));
    const below = { ...context, name: `${name} ${member}` };
    const inner = toType(building, schema, `${place}${toJsonPointer(['properties', member])}`, below);
    if (field !== member)
      building.mappings.push({ type_name: type, field_name: field, disable_default_mapping: true, path: [member] });
    return `  ${field}: ${inner}${use === 'input' && required.has(member) ? '!' : ''}`;
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
  const types = (Array.isArray(type) ? type : [type]).map(textOrEmpty).filter(it => it !== '' && it !== 'null');
  if (types.length > 1) return '';
  return types[0] ?? (isObject(properties) ? 'object' : isObject(items) ? 'array' : '');
}

/** Merges `allOf` of objects; undefined for other combinations, which have no type of GraphQL. */
function mergeAll(root: JsonObject, part: DocumentPart): DocumentPart | undefined {
  const { value, place } = part;
  if (value.oneOf !== undefined || value.anyOf !== undefined || value.not !== undefined) return undefined;
  const all = arrayOrEmpty(value.allOf);
  if (all.length === 0) return part;
  if (all.length > maxCombined) throw createDocumentProblem(`${place}/allOf`, `has more than ${maxCombined} schemas`);
  const parts = all.map((it, at) => resolveLocalReference(root, it, `${place}/allOf/${at}`).value);
  const { allOf: _combined, ...own } = value;
  if (parts.length === 1 && Object.keys(own).length === 0) return { value: parts[0]!, place };
  const merged = [...parts, own];
  if (merged.some(it => it.allOf !== undefined || it.oneOf !== undefined || it.anyOf !== undefined)) return undefined;
  const properties = Object.assign(Object.create(null), ...merged.map(it => objectOrEmpty(it.properties)));
  const required = merged.flatMap(it => arrayOrEmpty(it.required));
  return { value: { type: 'object', properties, required }, place };
}
