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
  /** The value without the `null` of optional members and without read-only members: the very value where it has none. */
  readonly value: unknown;
  readonly unknown: readonly UnknownMember[];
  /** Paths of the declared legacy members that the value holds, but for those that hold nothing (see `isEmpty`). */
  readonly legacy: readonly string[];
}

export interface MemberBounds {
  readonly maxReported: number;
  readonly maxDepth: number;
  /** Leaves unknown members out of the value, besides reporting them. */
  readonly dropsUnknown?: boolean;
}

/** JSON bodies are at most 100 levels deep; what is deeper is reported, not trusted. */
export const defaultMemberBounds: MemberBounds = { maxReported: 100, maxDepth: 128 };

/** A longer name is no misspelling; comparing it would cost time, and repeating it would fill the error. */
const maxNameLength = 100;

/** Places of a schema that are searched for a misplaced name. */
const maxIndexedSchemas = 50_000;

type Path = readonly (string | number)[];
type Def = z.core.$ZodTypes['_zod']['def'];

/** The marks are schemas of their own, so that they survive `.extend()`, `.refine()` and the like. */
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

/** Declares names that exports carry and that mean nothing here: kept, returned, reported where they say something. */
export function legacyMembers<S extends z.ZodObject>(schema: S, names: readonly string[]): S {
  return schema.safeExtend(Object.fromEntries(names.map(name => [name, legacyMark]))) as unknown as S;
}

/**
 * Declares members that reads return and writes do not set (ids, times, hashes), so that what was read can be edited and
 * sent back. They are left out of the value. Names that the schema already has stay as they are; `.partial()` and the like
 * come before.
 */
export function readOnlyMembers<S extends z.ZodObject>(schema: S, names: readonly string[]): S {
  const added = names.filter(name => !Object.hasOwn(schema.shape, name));
  return schema.safeExtend(Object.fromEntries(added.map(name => [name, readOnlyMark]))) as unknown as S;
}

/** Declares that `null` means something else than absence: none, where absence is "as before". Wraps last. */
export function meaningfulNull<S extends z.ZodType>(schema: S): S {
  nullMarks.add(schema);
  return schema;
}

/** Declares an object in which any member is fine, beside those of its shape. Objects below it are still checked. */
export const freeForm = <S extends z.ZodObject>(schema: S): S => schema.catchall(freeMark) as unknown as S;

/** The schema of the members that an object does not name; undefined where it may hold no others. */
function restSchemaOf({ catchall }: z.core.$ZodObjectDef): z.core.$ZodType | undefined {
  if (!catchall || catchall === freeMark) return catchall;
  return isUnspecific(catchall) || definitionOf(catchall).type === 'never' ? undefined : catchall;
}

/** Whether an object refuses the members it does not declare: a loose object does, unless it is marked as free. */
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

/** Walks a value beside its schema: finds members that are not declared, and drops `null` where a member may be absent. */
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

/** Stands for an item or member that is left out of the copy. */
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

/** The schema inside a wrapper: what a pipe reads, or what a preprocessing step hands its result to. */
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

/** Whether `any` or `unknown` stands there: `null` is then a value like others. */
function isUnspecific(schema: z.core.$ZodType): boolean {
  const { type } = definitionOf(schema);
  if (type === 'unknown' || type === 'any') return true;
  const inner = innerSchemaOf(schema);
  return inner !== undefined && type !== 'lazy' && isUnspecific(inner);
}

/** Whether `null` says the same as leaving the member out. */
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
 * Zero values: exporters write every member they know, `false`, `0` and empty lists included. A legacy member that asks
 * for nothing loses nothing, and a warning about it would hide those that matter.
 */
function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isEmpty);
  return !value;
}

/** Names without effect are no help to the author of a misspelt one. */
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

/** The option that the value is meant as: one that accepts it, and of these the one that leaves least unknown. */
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

/** Whether a value of one of these types can pass the schema at all; a union inside a union counts by its own options. */
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

/** Per root schema: where each declared name stands, or null for a name of several places. */
const indexes = new WeakMap<z.core.$ZodType, Map<string, string | null>>();

/** The one place at which a misplaced member is declared: `global` belongs at `middleware.global`. */
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

/** The schemas one step below, with the member name where the step has one. Maps and lists have no name to suggest. */
function childSchemas(schema: z.core.$ZodType): [string | undefined, z.core.$ZodType][] {
  const def = definitionOf(schema);
  if (def.type === 'object') return Object.entries((def as z.core.$ZodObjectDef).shape);
  if (def.type === 'union') return def.options.map(option => [undefined, option]);
  if (def.type === 'intersection') return [def.left, def.right].map(side => [undefined, side]);
  const inner = innerSchemaOf(schema);
  return inner ? [[undefined, inner]] : [];
}
