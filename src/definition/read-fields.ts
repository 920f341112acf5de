import type { JsonPath } from '#base/json-tree.ts';
import { arrayOrEmpty, getAt, isZeroValue, objectOrEmpty } from '#base/json-tree.ts';
import type { Facet, Fields, Row, SettledWire, Side, Values } from './facet.ts';

/** Where the anchors of a form stand in one document; null where there is nothing to anchor to. */
export type Anchors = Readonly<Record<string, JsonPath | null>>;

/** The path in the document, or null where its anchor holds nothing. */
export function resolved(path: JsonPath, anchors: Anchors): JsonPath | null {
  const first = path[0];
  if (!first?.startsWith('@')) return path;
  const above = anchors[first];
  return above ? [...above, ...path.slice(1)] : null;
}

/** The path a wire is read from: the first that says something, else the first that is there. */
export function spokenPath(wire: SettledWire, root: unknown, anchors: Anchors): JsonPath | undefined {
  const present = wire.paths
    .map(path => resolved(path, anchors))
    .filter((path): path is JsonPath => path !== null && (getAt(root, path) ?? null) !== null);
  return present.find(path => !isZeroValue(getAt(root, path))) ?? present[0];
}

/** What a row says in one form, as our own value. */
export function readRow(row: Row, side: Side, root: unknown, anchors: Anchors): unknown {
  const wire = row[side];
  if (!wire) return row.fallback;
  const path = spokenPath(wire, root, anchors);
  if (!path) return wire.absent;
  const value = getAt(root, path);
  if (!row.items) return wire.read(value);
  const { kind, rows } = row.items;
  const readItem = (item: unknown) => readRows(rows, side, item, anchors);
  if (kind === 'list') return arrayOrEmpty(value).map(readItem);
  return Object.fromEntries(Object.entries(objectOrEmpty(value)).map(([name, item]) => [name, readItem(item)]));
}

export function readRows(rows: readonly Row[], side: Side, root: unknown, anchors: Anchors): Values {
  return Object.fromEntries(rows.map(row => [row.name, readRow(row, side, root, anchors)]));
}

/**
 * What a facet says once its switches are weighed and its lens has spoken. Most definitions leave most facets out: these
 * share one value, which is nobody's to change, so that thousands of APIs take little room.
 */
export function readFacet(facet: Facet<Fields>, side: Side, root: unknown, anchors: Anchors): Values {
  const speaks = facet.rows.some(row => row[side] && spokenPath(row[side], root, anchors) !== undefined);
  return speaks ? completed(facet, side, readRows(facet.rows, side, root, anchors)) : silence(facet, side);
}

const silences = { classic: new WeakMap<Facet<Fields>, Values>(), oas: new WeakMap<Facet<Fields>, Values>() };

function silence(facet: Facet<Fields>, side: Side): Values {
  const known = silences[side].get(facet);
  if (known) return known;
  const made = Object.freeze(completed(facet, side, readRows(facet.rows, side, {}, {})));
  silences[side].set(facet, made);
  return made;
}

export function completed({ rows, lens }: Pick<Facet<Fields>, 'rows' | 'lens'>, side: Side, raw: Values): Values {
  const values = { ...raw };
  for (const row of rows) if (idle(row, raw)) values[row.name] = false;
  return lens ? lens.complete(values, side) : values;
}

/** Whether a switch has nothing to switch. */
export const idle = (row: Row, values: Values): boolean =>
  row.needs.length > 0 && row.needs.every(name => isZeroValue(values[name]));
