import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '#base/json-tree.ts';
import { arrayOrEmpty, deleteAt, getAt, isObject, isZeroValue, objectOrEmpty, setAt } from '#base/json-tree.ts';
import type { DefinitionFormat, Facet, Fields, Row, Values } from './facet.ts';
import type { Anchors } from './read-fields.ts';
import { firstSetPath, isNoop, readFacet, readRow, resolvePath, withDerivedValues } from './read-fields.ts';

/**
 * Format conversion, row by row. Values that the other format cannot express, and unknown members, are carried over
 * verbatim under a key named after their format and restored on the way back, so that no conversion is lossy.
 */
export const carryOverKey = { classic: 'x-gw-classic', oas: 'x-gw-oas' } as const;

export interface ConversionContext {
  readonly from: DefinitionFormat;
  readonly to: DefinitionFormat;
  readonly source: JsonObject;
  /** Remainder of the source that the target does not express. */
  readonly rest: JsonObject;
  readonly target: JsonObject;
  readonly anchors: Readonly<Record<DefinitionFormat, Anchors>>;
}

type Block = Pick<Facet<Fields>, 'rows' | 'lens' | 'name'>;

export function convertBlock(block: Block, context: ConversionContext): void {
  const { from, to, target, anchors } = context;
  const raw = readRaw(block.rows, context);
  const values = withDerivedValues(block, from, raw);
  const lensFields = isAlreadyExpressed(block, values, context) ? [] : (block.lens?.fields ?? []);
  const isAlreadySet = (row: Row) => row[to] !== null && firstSetPath(row[to], target, anchors[to]) !== undefined;
  const alreadySet = block.rows.filter(isAlreadySet);
  const newRows = block.rows.filter(
    row => !isAlreadySet(row) && needsWrite(row, lensFields, values, row[to]?.valueWhenAbsent, context),
  );
  for (const row of newRows) writeRow(row, values[row.name], context);
  if (newRows.length > 0) writeSwitch(block, values, context);
  const readTarget = () => readFacet(block as Facet<Fields>, to, target, anchors[to]);
  // Carried-over values stay as written where they mean the same beside the new values.
  const before = readTarget();
  for (const row of alreadySet)
    if (needsWrite(row, lensFields, values, before[row.name], context)) writeRow(row, values[row.name], context);
  const converted = readTarget();
  for (const row of block.rows) removeConverted(row, raw, converted, context);
}

/** Removes a value from the remainder where the target expresses all of it. */
function removeConverted(
  row: Row,
  raw: Values,
  converted: Values,
  { from, to, source, rest, anchors }: ConversionContext,
): void {
  const path = row[from] && firstSetPath(row[from], source, anchors[from]);
  if (!path) return;
  const entriesCarryTheirOwnRest = row.items !== undefined && row[to] !== null;
  const isCarriedOver = isNoop(row, raw) || isDeepStrictEqual(raw[row.name], converted[row.name]);
  if (entriesCarryTheirOwnRest || (isCarriedOver && isExact(row, from, raw[row.name], getAt(source, path))))
    deleteAt(rest, path);
}

/** True where encoding the value gives the wire value: no unknown members, no other notation. */
function isExact(row: Row, format: DefinitionFormat, value: unknown, wire: unknown): boolean {
  const encoded = row.items
    ? arrayOrEmpty(value).map(item => encodeItem(row.items!.rows, format, objectOrEmpty(item)))
    : row[format]!.encode(value);
  return isDeepStrictEqual(encoded, wire);
}

/** True where carried-over values already express the block, perhaps in more detail than this format can. */
function isAlreadyExpressed(
  { rows, lens, name }: Block,
  values: Values,
  { from, to, target, anchors }: ConversionContext,
): boolean {
  const current = readFacet({ rows, name, ...(lens ? { lens } : {}) } as Facet<Fields>, to, target, anchors[to]);
  const here = rows.filter(row => row[from]);
  const carried = here.filter(row => lens?.fields.includes(row.name));
  return (carried.length > 0 ? carried : here).every(row => isDeepStrictEqual(current[row.name], values[row.name]));
}

const readRaw = (rows: readonly Row[], { from, source, anchors }: ConversionContext): Values =>
  Object.fromEntries(rows.map(row => [row.name, readRow(row, from, source, anchors[from])]));

/** A row is written where the target's present value, or its default, differs. */
function needsWrite(
  row: Row,
  lensFields: readonly string[],
  values: Values,
  current: unknown,
  { from, to, source, anchors }: ConversionContext,
): boolean {
  const there = row[to];
  if (!there || !resolvePath(there.paths[0]!, anchors[to])) return false;
  const here = row[from];
  if (!here && !lensFields.includes(row.name)) return false;
  if (!here && isZeroValue(values[row.name]) && isZeroValue(current)) return false;
  if (isNoop(row, values) && !(here && firstSetPath(here, source, anchors[from]))) return false;
  return !isDeepStrictEqual(values[row.name], current);
}

function writeRow(row: Row, value: unknown, context: ConversionContext): void {
  const { from, to, source, target, anchors } = context;
  const path = resolvePath(row[to]!.paths[0]!, anchors[to])!;
  if (!row.items) {
    setAt(target, path, row[to]!.encode(value));
    return;
  }
  const here = row[from] && firstSetPath(row[from], source, anchors[from]);
  const rows = row.items.rows;
  const convertOne = (item: unknown) =>
    here ? convertItem(rows, from, to, objectOrEmpty(item)) : encodeItem(rows, to, objectOrEmpty(item));
  const items = here ? getAt(source, here) : value;
  const converted =
    row.items.kind === 'list'
      ? arrayOrEmpty(items).map(convertOne)
      : Object.fromEntries(Object.entries(objectOrEmpty(items)).map(([name, item]) => [name, convertOne(item)]));
  setAt(target, path, converted);
}

/** A converted OpenAPI block always states `enabled`. */
function writeSwitch(block: Block, values: Values, { to, target, anchors }: ConversionContext): void {
  const path = block.rows.find(({ name }) => name === 'enabled')?.[to]?.paths[0];
  const place = path && resolvePath(path, anchors[to]);
  if (to === 'oas' && place && getAt(target, place) === undefined) setAt(target, place, values.enabled);
}

/** Converts an entry of a list or map, with its own carry-over key. */
export function convertItem(
  rows: readonly Row[],
  from: DefinitionFormat,
  to: DefinitionFormat,
  item: JsonObject,
  lens?: Block['lens'],
): JsonObject {
  const context = startConversion(from, to, item, {});
  convertBlock({ name: '', rows, ...(lens ? { lens } : {}) }, context);
  const enabled = rows.find(({ name }) => name === 'enabled');
  if (to === 'oas' && enabled?.oas) context.target.enabled ??= readRow(enabled, from, item, {});
  return finishConversion(context);
}

function encodeItem(rows: readonly Row[], format: DefinitionFormat, values: JsonObject): JsonObject {
  const item: JsonObject = {};
  for (const row of rows)
    if (row[format] && values[row.name] !== '')
      setAt(item, row[format].paths[0]!, row[format].encode(values[row.name]));
  return item;
}

export function startConversion(
  from: DefinitionFormat,
  to: DefinitionFormat,
  source: JsonObject,
  anchors: Partial<Record<DefinitionFormat, Anchors>>,
): ConversionContext {
  const rest = structuredClone(source);
  const carriedOver = rest[carryOverKey[to]];
  delete rest[carryOverKey[to]];
  return {
    from,
    to,
    source,
    rest,
    target: isObject(carriedOver) ? carriedOver : {},
    anchors: { classic: anchors.classic ?? {}, oas: anchors.oas ?? {} },
  };
}

export function finishConversion({ from, rest, target }: ConversionContext): JsonObject {
  if (!isZeroValue(rest)) target[carryOverKey[from]] = rest;
  return target;
}
