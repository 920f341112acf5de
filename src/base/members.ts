import { z } from 'zod';
import { closestMatch } from './closest-match.ts';

/** A member that the schema does not declare. */
export interface UnknownMember {
  /** From the root to the member, with its name: `proxy.listen_pth`. */
  readonly path: string;
  readonly name: string;
  /** The declared name beside it that resembles it, or the one path elsewhere at which the same name is declared. */
  readonly nearest: string | undefined;
}

export interface MemberCheck {
  /**
   * The value without the `null` of optional members and without read-only members: the very value where it has none.
   */
  readonly value: unknown;
  readonly unknown: readonly UnknownMember[];
  /** Paths of declared legacy members in the value, unless they are empty (see `isEmpty`). */
  readonly legacy: readonly string[];
}

export interface MemberBounds {
  readonly maxReported: number;
  readonly maxDepth: number;
  /** Leaves unknown members out of the value, besides reporting them. */
  readonly dropsUnknown?: boolean;
}

/** JSON bodies have at most 100 levels; deeper members are reported as unknown. */
export const defaultMemberBounds: MemberBounds = { maxReported: 100, maxDepth: 128 };

/** Longer names are no misspellings: they are neither compared nor repeated in full. */
const maxNameLength = 100;

/** Schemas below a root that are searched for a misplaced name. */
const maxIndexedSchemas = 50_000;

type Path = readonly (string | number)[];
type Def = z.core.$ZodTypes['_zod']['def'];

/** Marker schemas: they survive `.extend()`, `.refine()` and the like. */
const legacyMark = z
  .unknown()
  .optional()
  .meta({ deprecated: true, description: 'Legacy: kept and returned, without effect.' });
const freeMark = z.unknown();
const readOnlyMark = z
  .unknown()
  .optional()
  .meta({ readOnly: true, description: 'Set by the server: accepted in requests, without effect.' });
const nullMarks = new WeakSet<z.core.$ZodType>();

/** Declares legacy members of exports, without effect here: stored, returned, and reported unless they are empty. */
export function legacyMembers<S extends z.ZodObject>(schema: S, names: readonly string[]): S {
  return schema.safeExtend(Object.fromEntries(names.map(name => [name, legacyMark]))) as unknown as S;
}

/**
 * Declares members that reads return and writes do not set (ids, times, hashes), so that a response can be edited and
 * sent back. They are dropped from the value. Names that the schema already has are unchanged; call `.partial()` and
 * the like before.
 */
export function readOnlyMembers<S extends z.ZodObject>(schema: S, names: readonly string[]): S {
  const added = names.filter(name => !Object.hasOwn(schema.shape, name));
  return schema.safeExtend(Object.fromEntries(added.map(name => [name, readOnlyMark]))) as unknown as S;
}

/** Declares that `null` differs from absence: "none" instead of "unchanged". Must be the outermost wrapper. */
export function meaningfulNull<S extends z.ZodType>(schema: S): S {
  nullMarks.add(schema);
  return schema;
}

/** Declares an object that allows any further member. Objects below it are still checked. */
export const freeForm = <S extends z.ZodObject>(schema: S): S => schema.catchall(freeMark) as unknown as S;

/** Schema of undeclared members; undefined where an object allows none. */
function restSchemaOf({ catchall }: z.core.$ZodObjectDef): z.core.$ZodType | undefined {
  if (!catchall || catchall === freeMark) return catchall;
  return isUnspecific(catchall) || definitionOf(catchall).type === 'never' ? undefined : catchall;
}

/** True for an object that rejects undeclared members: a loose object too, unless it is marked as free-form. */
export const isClosed = (schema: z.core.$ZodType): boolean =>
  definitionOf(schema).type === 'object' && restSchemaOf(definitionOf(schema) as z.core.$ZodObjectDef) === undefined;

/** The message of an unknown member, without its path. */
export const formatUnknownMember = ({ nearest: guess }: UnknownMember): string =>
  `no such member${guess === undefined ? '' : `; did you mean ${guess}?`}`;

/** `proxy.target_list[2]`, `paths["/a b"].get` */
export function formatMemberPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`;
    else if (/^[\w$/-]+$/.test(String(segment))) text += text === '' ? String(segment) : `.${String(segment)}`;
    else text += `[${JSON.stringify(String(segment))}]`;
  }
  return text;
}

/**
 * Walks a value beside its schema: finds members that are not declared, and drops `null` where a member may be absent.
 */
export function checkMembers(schema: z.ZodType, value: unknown, bounds = defaultMemberBounds): MemberCheck {
  const walk: Walk = { root: schema, bounds, unknown: [], legacy: [] };
  const result = walkValue(walk, schema, value, []);
  return { value: result, unknown: walk.unknown, legacy: walk.legacy };
}

interface Walk {
  readonly root: z.core.$ZodType;
  readonly bounds: MemberBounds;
  readonly unknown: UnknownMember[];
  readonly legacy: string[];
}

const definitionOf = (schema: z.core.$ZodType): Def => schema._zod.def as Def;
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Marks an item or member that the copy leaves out. */
const dropped = Symbol('dropped');

function walkValue(walk: Walk, schema: z.core.$ZodType, value: unknown, path: Path): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const def = definitionOf(schema);
  switch (def.type) {
    case 'object':
      return isObject(value) ? walkObject(walk, def as z.core.$ZodObjectDef, value, path) : value;
    case 'record':
      return isObject(value) ? walkRecord(walk, def, value, path) : value;
    case 'array':
      return walkItems(walk, () => def.element, value, path);
    case 'tuple':
      return walkItems(walk, index => def.items[index] ?? def.rest ?? undefined, value, path);
    case 'union':
      return walkUnion(walk, def as z.core.$ZodUnionDef, value, path);
    case 'intersection':
      return walkIntersection(walk, def, value, path);
    default: {
      const inner = innerSchemaOf(schema);
      return inner ? walkValue(walk, inner, value, path) : value;
    }
  }
}

/** Schema inside a wrapper: the input of a pipe, or the output of a preprocessing step. */
function innerSchemaOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const def = definitionOf(schema);
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'catch':
    case 'readonly':
    case 'success':
      return def.innerType;
    case 'lazy':
      return def.getter();
    case 'pipe':
      return definitionOf(def.in).type === 'transform' ? def.out : def.in;
    default:
      return undefined;
  }
}

/** True for `any` and `unknown`, where `null` is a value like others. */
function isUnspecific(schema: z.core.$ZodType): boolean {
  const { type } = definitionOf(schema);
  if (type === 'unknown' || type === 'any') return true;
  const inner = innerSchemaOf(schema);
  return inner !== undefined && type !== 'lazy' && isUnspecific(inner);
}

/** True where `null` means the same as leaving the member out. */
export const isNullAbsent = (schema: z.core.$ZodType): boolean =>
  schema._zod.optin !== undefined && !nullMarks.has(schema) && !isUnspecific(schema);

/** A member or item by its own schema: walked, or left out where it is `null` and may be absent. */
function walkMember(walk: Walk, schema: z.core.$ZodType, value: unknown, path: Path): unknown {
  if (value === null) return isNullAbsent(schema) ? dropped : null;
  return walkValue(walk, schema, value, path);
}

function walkObject(walk: Walk, def: z.core.$ZodObjectDef, value: Record<string, unknown>, path: Path): unknown {
  const { shape } = def;
  const rest = restSchemaOf(def);
  return mapMembers(walk, value, path, (name, member, at) => {
    const declared = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (declared === readOnlyMark) return dropped;
    if (declared === legacyMark) {
      if (walk.legacy.length < walk.bounds.maxReported && !isEmpty(member)) walk.legacy.push(formatMemberPath(at));
      return member;
    }
    if (declared) return walkMember(walk, declared, member, at);
    if (rest) return walkMember(walk, rest, member, at);
    reportUnknown(walk, at, name, () => Object.keys(shape).filter(known => isSuggested(shape[known]!)));
    return walk.bounds.dropsUnknown ? dropped : member;
  });
}

function walkRecord(walk: Walk, def: z.core.$ZodRecordDef, value: Record<string, unknown>, path: Path): unknown {
  const names = (def.keyType as z.core.$ZodType)._zod.values;
  return mapMembers(walk, value, path, (name, member, at) => {
    if (!names || names.has(name)) return walkMember(walk, def.valueType, member, at);
    reportUnknown(walk, at, name, () => [...names].map(String));
    return walk.bounds.dropsUnknown ? dropped : member;
  });
}

/**
 * Zero values: exporters write every member, `false`, `0` and empty arrays included. A warning about an empty
 * legacy member would hide those that matter.
 */
function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isEmpty);
  return !value;
}

/** Legacy and read-only names are never suggested: they have no effect. */
const isSuggested = (schema: z.core.$ZodType) => schema !== legacyMark && schema !== readOnlyMark;

type VisitMember = (name: string, member: unknown, path: Path) => unknown;

/** Copies an object only where a member changes. */
function mapMembers(walk: Walk, value: Record<string, unknown>, path: Path, visit: VisitMember): unknown {
  let changed: Map<string, unknown> | undefined;
  for (const name of Object.keys(value)) {
    const at = [...path, name];
    if (at.length > walk.bounds.maxDepth) {
      reportUnknown(walk, at, name, () => []);
      break;
    }
    const result = visit(name, value[name], at);
    if (result === value[name]) continue;
    changed ??= new Map();
    changed.set(name, result);
  }
  if (!changed) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, changed.has(name) ? changed.get(name) : member]);
  return Object.fromEntries(entries.filter(([, member]) => member !== dropped));
}

type ItemSchema = (index: number) => z.core.$ZodType | undefined;

function walkItems(walk: Walk, schemaOf: ItemSchema, value: object, path: Path): unknown {
  if (!Array.isArray(value)) return value;
  let changed: unknown[] | undefined;
  for (const [index, item] of value.entries()) {
    const schema = schemaOf(index);
    const result = schema ? walkMember(walk, schema, item, [...path, index]) : item;
    if (result === item) continue;
    changed ??= [...value];
    changed[index] = result;
  }
  return changed ? changed.filter(item => item !== dropped) : value;
}

/** Walks the best option: one that accepts the value, and of these the one with the fewest unknown members. */
function walkUnion(walk: Walk, def: z.core.$ZodUnionDef, value: object, path: Path): unknown {
  const options = optionsFor(def, value);
  if (options.length === 0) return value;
  if (options.length === 1) return walkValue(walk, options[0]!, value, path);
  const results = options.map(option => {
    const own: Walk = { ...walk, unknown: [], legacy: [] };
    const result = walkValue(own, option, value, path);
    return { own, result, isAccepted: z.safeParse(option, result).success };
  });
  const accepted = results.filter(({ isAccepted }) => isAccepted);
  const candidates = accepted.length > 0 ? accepted : results;
  const best = candidates.reduce((a, b) => (b.own.unknown.length < a.own.unknown.length ? b : a));
  addFindings(walk, best.own.unknown, best.own.legacy);
  return best.result;
}

function optionsFor(def: z.core.$ZodUnionDef, value: object): readonly z.core.$ZodType[] {
  const wanted = Array.isArray(value) ? listTypes : objectTypes;
  const fitting = def.options.filter(option => canHold(option, wanted));
  const { discriminator } = def as { discriminator?: string };
  if (discriminator === undefined) return fitting;
  const given = (value as Record<string, unknown>)[discriminator] as z.core.util.Primitive;
  const chosen = fitting.filter(option => option._zod.propValues?.[discriminator]?.has(given));
  return chosen.length > 0 ? chosen : fitting;
}

const listTypes = new Set(['array', 'tuple', 'unknown', 'any']);
const objectTypes = new Set(['object', 'record', 'unknown', 'any']);

/** True where the schema can accept a value of one of these types; unions inside unions count by their options. */
function canHold(schema: z.core.$ZodType, types: ReadonlySet<string>): boolean {
  const def = definitionOf(schema);
  if (def.type === 'union') return def.options.some(option => canHold(option, types));
  if (def.type === 'intersection') return canHold(def.left, types) && canHold(def.right, types);
  const inner = innerSchemaOf(schema);
  return inner ? canHold(inner, types) : types.has(def.type);
}

/** A member of an intersection is declared where either side declares it. */
function walkIntersection(walk: Walk, def: z.core.$ZodIntersectionDef, value: object, path: Path): unknown {
  const left: Walk = { ...walk, unknown: [], legacy: [] };
  const right: Walk = { ...walk, unknown: [], legacy: [] };
  const result = walkValue(right, def.right, walkValue(left, def.left, value, path), path);
  const unknownRight = new Map(right.unknown.map(member => [member.path, member.nearest]));
  const both = left.unknown.filter(({ path: at }) => unknownRight.has(at));
  const unknown = both.map(member => ({ ...member, nearest: member.nearest ?? unknownRight.get(member.path) }));
  addFindings(walk, unknown, [...new Set([...left.legacy, ...right.legacy])]);
  return result;
}

function addFindings(walk: Walk, unknown: readonly UnknownMember[], legacy: readonly string[]): void {
  walk.unknown.push(...unknown.slice(0, walk.bounds.maxReported - walk.unknown.length));
  walk.legacy.push(...legacy.slice(0, walk.bounds.maxReported - walk.legacy.length));
}

function reportUnknown(walk: Walk, path: Path, name: string, known: () => readonly string[]): void {
  if (walk.unknown.length >= walk.bounds.maxReported) return;
  if (name.length > maxNameLength) {
    const short = `${name.slice(0, maxNameLength)}…`;
    walk.unknown.push({ path: formatMemberPath([...path.slice(0, -1), short]), name: short, nearest: undefined });
    return;
  }
  const at = formatMemberPath(path);
  walk.unknown.push({ path: at, name, nearest: closestMatch(name, known()) ?? findDeclaredPath(walk.root, name, at) });
}

/** Per root schema: the path of each declared name, or null for a name with several paths. */
const indexes = new WeakMap<z.core.$ZodType, Map<string, string | null>>();

/** The only path at which a misplaced member is declared: `global` belongs at `middleware.global`. */
function findDeclaredPath(root: z.core.$ZodType, name: string, path: string): string | undefined {
  const index = indexes.get(root) ?? buildIndex(root);
  indexes.set(root, index);
  const place = index.get(name) ?? undefined;
  return place === path ? undefined : place;
}

function buildIndex(root: z.core.$ZodType): Map<string, string | null> {
  const index = new Map<string, string | null>();
  const waiting: [z.core.$ZodType, Path][] = [[root, []]];
  for (let at = 0; at < waiting.length && at < maxIndexedSchemas; at++) {
    const [schema, path] = waiting[at]!;
    for (const [name, child] of childSchemas(schema)) {
      if (name !== undefined && isSuggested(child))
        index.set(name, index.has(name) ? null : formatMemberPath([...path, name]));
      waiting.push([child, name === undefined ? path : [...path, name]]);
    }
  }
  return index;
}

/** Child schemas, with the member name where there is one; records and arrays have none to suggest. */
function childSchemas(schema: z.core.$ZodType): [string | undefined, z.core.$ZodType][] {
  const def = definitionOf(schema);
  if (def.type === 'object') return Object.entries((def as z.core.$ZodObjectDef).shape);
  if (def.type === 'union') return def.options.map(option => [undefined, option]);
  if (def.type === 'intersection') return [def.left, def.right].map(side => [undefined, side]);
  const inner = innerSchemaOf(schema);
  return inner ? [[undefined, inner]] : [];
}
