import type { JsonPath } from '#base/json-tree.ts';
import { arrayOrEmpty, getAt, isZeroValue, objectOrEmpty } from '#base/json-tree.ts';
import type { DefinitionFormat, Facet, Fields, ResolvedCodec, Row, Values } from './facet.ts';

/** Where the anchors of a form stand in one document; null where there is nothing to anchor to. */
export type Anchors = Readonly<Record<string, JsonPath | null>>;

/** The path in the document, or null where its anchor holds nothing. */
export function resolvePath(path: JsonPath, anchors: Anchors): JsonPath | null {
  const first = path[0];
  if (!first?.startsWith('@')) return path;
  const above = anchors[first];
  return above ? [...above, ...path.slice(1)] : null;
}

/** The path a wire is read from: the first that says something, else the first that is there. */
export function firstSetPath(codec: ResolvedCodec, root: unknown, anchors: Anchors): JsonPath | undefined {
  const present = codec.paths
    .map(path => resolvePath(path, anchors))
    .filter((path): path is JsonPath => path !== null && (getAt(root, path) ?? null) !== null);
  return present.find(path => !isZeroValue(getAt(root, path))) ?? present[0];
}

/** What a row says in one form, as our own value. */
export function readRow(row: Row, format: DefinitionFormat, root: unknown, anchors: Anchors): unknown {
  const codec = row[format];
  if (!codec) return row.defaultValue;
  const path = firstSetPath(codec, root, anchors);
  if (!path) return codec.absent;
  const value = getAt(root, path);
  if (!row.items) return codec.read(value);
  const { kind, rows } = row.items;
  const readItem = (item: unknown) => readRows(rows, format, item, anchors);
  if (kind === 'list') return arrayOrEmpty(value).map(readItem);
  return Object.fromEntries(Object.entries(objectOrEmpty(value)).map(([name, item]) => [name, readItem(item)]));
}

export function readRows(rows: readonly Row[], format: DefinitionFormat, root: unknown, anchors: Anchors): Values {
  return Object.fromEntries(rows.map(row => [row.name, readRow(row, format, root, anchors)]));
}

/**
 * What a facet says once its switches are weighed and its lens has spoken. Most definitions leave most facets out: these
 * share one value, which is nobody's to change, so that thousands of APIs take little room.
 */
export function readFacet(facet: Facet<Fields>, format: DefinitionFormat, root: unknown, anchors: Anchors): Values {
  const isPresent = facet.rows.some(row => row[format] && firstSetPath(row[format], root, anchors) !== undefined);
  return isPresent
    ? withDerivedValues(facet, format, readRows(facet.rows, format, root, anchors))
    : defaultsOf(facet, format);
}

const defaultsCache = { classic: new WeakMap<Facet<Fields>, Values>(), oas: new WeakMap<Facet<Fields>, Values>() };

function defaultsOf(facet: Facet<Fields>, format: DefinitionFormat): Values {
  const cached = defaultsCache[format].get(facet);
  if (cached) return cached;
  const defaults = Object.freeze(withDerivedValues(facet, format, readRows(facet.rows, format, {}, {})));
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
  return lens ? lens.complete(values, format) : values;
}

/** Whether a switch has nothing to switch. */
export const isNoop = (row: Row, values: Values): boolean =>
  row.needs.length > 0 && row.needs.every(name => isZeroValue(values[name]));
