import type { JsonPath } from '#base/json-tree.ts';
import { arrayOrEmpty, getAt, isZeroValue, objectOrEmpty } from '#base/json-tree.ts';
import type { DefinitionFormat, Facet, Fields, ResolvedCodec, Row, Values } from './facet.ts';

/** Paths of the anchors of a format in one document; null where an anchor has no target. */
export type Anchors = Readonly<Record<string, JsonPath | null>>;

/** Absolute path in the document, or null where its anchor has no target. */
export function resolvePath(path: JsonPath, anchors: Anchors): JsonPath | null {
  const first = path[0];
  if (first?.[0] !== '@') return path;
  const above = anchors[first];
  return above ? [...above, ...path.slice(1)] : null;
}

/** Path that a codec reads: the first with a non-zero value, else the first that is present. */
export function firstSetPath(codec: ResolvedCodec, root: unknown, anchors: Anchors): JsonPath | undefined {
  let firstPresent: JsonPath | undefined;
  // Plain loops: a model looks for a thousand paths, most of which are absent.
  for (const path of codec.paths) {
    const resolved = resolvePath(path, anchors);
    const value = resolved ? getAt(root, resolved) : undefined;
    if (!resolved || value === undefined || value === null) continue;
    if (!isZeroValue(value)) return resolved;
    firstPresent ??= resolved;
  }
  return firstPresent;
}

/** Decodes a row from one format. */
export function readRow(row: Row, format: DefinitionFormat, root: unknown, anchors: Anchors): unknown {
  const codec = row[format];
  if (!codec) return row.defaultValue;
  const path = firstSetPath(codec, root, anchors);
  if (!path) return codec.valueWhenAbsent;
  const value = getAt(root, path);
  if (!row.items) return codec.decode(value);
  const { kind, rows } = row.items;
  const readItem = (item: unknown) => readRows(rows, format, item, anchors);
  if (kind === 'list') return arrayOrEmpty(value).map(readItem);
  return Object.fromEntries(Object.entries(objectOrEmpty(value)).map(([name, item]) => [name, readItem(item)]));
}

export function readRows(rows: readonly Row[], format: DefinitionFormat, root: unknown, anchors: Anchors): Values {
  return Object.fromEntries(rows.map(row => [row.name, readRow(row, format, root, anchors)]));
}

/**
 * Reads a facet and derives its values. Definitions leave most facets out: these share one frozen object, which saves
 * memory with thousands of APIs.
 */
export function readFacet(facet: Facet<Fields>, format: DefinitionFormat, root: unknown, anchors: Anchors): Values {
  const isPresent = facet.rows.some(row => row[format] && firstSetPath(row[format], root, anchors) !== undefined);
  return isPresent
    ? withDerivedValues(facet, format, readRows(facet.rows, format, root, anchors))
    : defaultsOf(facet, format);
}

/** True for the values that all definitions without the facet share. */
export const areSharedDefaults = (values: Values): boolean => sharedDefaults.has(values);

const sharedDefaults = new WeakSet<Values>();
const defaultsCache = { classic: new WeakMap<Facet<Fields>, Values>(), oas: new WeakMap<Facet<Fields>, Values>() };

function defaultsOf(facet: Facet<Fields>, format: DefinitionFormat): Values {
  const cached = defaultsCache[format].get(facet);
  if (cached) return cached;
  const defaults = Object.freeze(withDerivedValues(facet, format, readRows(facet.rows, format, {}, {})));
  sharedDefaults.add(defaults);
  defaultsCache[format].set(facet, defaults);
  return defaults;
}

export function withDerivedValues(
  { rows, lens }: Pick<Facet<Fields>, 'rows' | 'lens'>,
  format: DefinitionFormat,
  raw: Values,
): Values {
  const values = { ...raw };
  for (const row of rows) if (isNoop(row, raw)) values[row.name] = false;
  return lens ? lens.derive(values, format) : values;
}

/** True for a switch without anything to switch. */
export const isNoop = (row: Row, values: Values): boolean =>
  row.requiresAnyOf.length > 0 && row.requiresAnyOf.every(name => isZeroValue(values[name]));
