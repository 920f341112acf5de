import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '#base/json-tree.ts';
import { arrayOrEmpty, deleteAt, getAt, isObject, isZeroValue, objectOrEmpty, setAt } from '#base/json-tree.ts';
import type { Facet, Fields, Row, Side, Values } from './facet.ts';
import type { Anchors } from './read-fields.ts';
import { completed, idle, readFacet, readRow, resolved, spokenPath } from './read-fields.ts';

/**
 * Turns what one form says into what the other says, row by row. What the other form cannot say, and what nobody has
 * declared, travels along in a bag named after the form it came from, and is put back on the way home: no conversion
 * loses anything.
 */
export const bagName = { classic: 'x-gw-classic', oas: 'x-gw-oas' } as const;

export interface Passage {
  readonly from: Side;
  readonly to: Side;
  readonly source: JsonObject;
  /** What is left of the source once the other form has said it. */
  readonly rest: JsonObject;
  readonly target: JsonObject;
  readonly anchors: Readonly<Record<Side, Anchors>>;
}

type Block = Pick<Facet<Fields>, 'rows' | 'lens' | 'name'>;

export function convertBlock(block: Block, passage: Passage): void {
  const { from, to, target, anchors } = passage;
  const raw = rawOf(block.rows, passage);
  const values = completed(block, from, raw);
  const carries = saidAlready(block, values, passage) ? [] : (block.lens?.carries ?? []);
  const isHome = (row: Row) => row[to] !== null && spokenPath(row[to], target, anchors[to]) !== undefined;
  const home = block.rows.filter(isHome);
  const fresh = block.rows.filter(row => !isHome(row) && writes(row, carries, values, row[to]?.absent, passage));
  for (const row of fresh) writeRow(row, values[row.name], passage);
  if (fresh.length > 0) writeSwitch(block, values, passage);
  const whole = () => readFacet(block as Facet<Fields>, to, target, anchors[to]);
  // What came home in the bag is left alone where, beside what was just written, it says the same in its own words.
  const before = whole();
  for (const row of home)
    if (writes(row, carries, values, before[row.name], passage)) writeRow(row, values[row.name], passage);
  const said = whole();
  for (const row of block.rows) settle(row, raw, said, passage);
}

/** Takes from the rest what the target now says, provided that all of it was said. */
function settle(row: Row, raw: Values, said: Values, { from, to, source, rest, anchors }: Passage): void {
  const path = row[from] && spokenPath(row[from], source, anchors[from]);
  if (!path) return;
  const entriesCarryTheirOwnRest = row.items !== undefined && row[to] !== null;
  const carried = idle(row, raw) || isDeepStrictEqual(raw[row.name], said[row.name]);
  if (entriesCarryTheirOwnRest || (carried && isExact(row, from, raw[row.name], getAt(source, path))))
    deleteAt(rest, path);
}

/** Whether our own value is all there is to the wire's: no unknown members, no other way of writing it. */
function isExact(row: Row, side: Side, value: unknown, wire: unknown): boolean {
  const again = row.items
    ? arrayOrEmpty(value).map(item => writtenItem(row.items!.rows, side, objectOrEmpty(item)))
    : row[side]!.write(value);
  return isDeepStrictEqual(again, wire);
}

/** Whether what came home in the bag says it all, in more words than this form has. */
function saidAlready({ rows, lens, name }: Block, values: Values, { from, to, target, anchors }: Passage): boolean {
  const said = readFacet({ rows, name, ...(lens ? { lens } : {}) } as Facet<Fields>, to, target, anchors[to]);
  const here = rows.filter(row => row[from]);
  const carried = here.filter(row => lens?.carries.includes(row.name));
  return (carried.length > 0 ? carried : here).every(row => isDeepStrictEqual(said[row.name], values[row.name]));
}

const rawOf = (rows: readonly Row[], { from, source, anchors }: Passage): Values =>
  Object.fromEntries(rows.map(row => [row.name, readRow(row, from, source, anchors[from])]));

/** A row is written where what the other form says already, be it by silence, means something else. */
function writes(
  row: Row,
  carries: readonly string[],
  values: Values,
  said: unknown,
  { from, to, source, anchors }: Passage,
): boolean {
  const there = row[to];
  if (!there || !resolved(there.paths[0]!, anchors[to])) return false;
  const here = row[from];
  if (!here && (!carries.includes(row.name) || isZeroValue(values[row.name]))) return false;
  if (idle(row, values) && !(here && spokenPath(here, source, anchors[from]))) return false;
  return !isDeepStrictEqual(values[row.name], said);
}

function writeRow(row: Row, value: unknown, passage: Passage): void {
  const { from, to, source, target, anchors } = passage;
  const path = resolved(row[to]!.paths[0]!, anchors[to])!;
  if (!row.items) {
    setAt(target, path, row[to]!.write(value));
    return;
  }
  const here = row[from] && spokenPath(row[from], source, anchors[from]);
  const rows = row.items.rows;
  const one = (item: unknown) =>
    here ? convertItem(rows, from, to, objectOrEmpty(item)) : writtenItem(rows, to, objectOrEmpty(item));
  const items = here ? getAt(source, here) : value;
  const turned =
    row.items.kind === 'list'
      ? arrayOrEmpty(items).map(one)
      : Object.fromEntries(Object.entries(objectOrEmpty(items)).map(([name, item]) => [name, one(item)]));
  setAt(target, path, turned);
}

/** An OpenAPI block that says anything says whether it is on. */
function writeSwitch(block: Block, values: Values, { to, target, anchors }: Passage): void {
  const path = block.rows.find(({ name }) => name === 'enabled')?.[to]?.paths[0];
  const place = path && resolved(path, anchors[to]);
  if (to === 'oas' && place && getAt(target, place) === undefined) setAt(target, place, values.enabled);
}

/** One entry of a list or map, with a bag of its own. */
export function convertItem(
  rows: readonly Row[],
  from: Side,
  to: Side,
  item: JsonObject,
  lens?: Block['lens'],
): JsonObject {
  const passage = depart(from, to, item, {});
  convertBlock({ name: '', rows, ...(lens ? { lens } : {}) }, passage);
  const enabled = rows.find(({ name }) => name === 'enabled');
  if (to === 'oas' && enabled?.oas) passage.target.enabled ??= readRow(enabled, from, item, {});
  return arrive(passage);
}

function writtenItem(rows: readonly Row[], side: Side, values: JsonObject): JsonObject {
  const item: JsonObject = {};
  for (const row of rows) if (row[side]) setAt(item, row[side].paths[0]!, row[side].write(values[row.name]));
  return item;
}

export function depart(from: Side, to: Side, source: JsonObject, anchors: Partial<Record<Side, Anchors>>): Passage {
  const rest = structuredClone(source);
  const home = rest[bagName[to]];
  delete rest[bagName[to]];
  return {
    from,
    to,
    source,
    rest,
    target: isObject(home) ? home : {},
    anchors: { classic: anchors.classic ?? {}, oas: anchors.oas ?? {} },
  };
}

export function arrive({ from, rest, target }: Passage): JsonObject {
  if (!isZeroValue(rest)) target[bagName[from]] = rest;
  return target;
}
