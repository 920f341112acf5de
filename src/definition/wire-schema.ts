import { z } from 'zod';
import { facets, features, versionFacets } from './definition.ts';
import type { Row, Side } from './facet.ts';
import { schemeAnchors } from './facets/schemes.ts';
import { timestamp } from './rules.ts';

/** The shape of one wire form, put together from the rows. Every member may be missing; unknown ones are welcome. */
interface Node {
  readonly children: Map<string, Node>;
  readonly leaves: z.ZodType[];
}

/** Stands for any name, as in a map. */
export const anyName = '*';

const node = (): Node => ({ children: new Map(), leaves: [] });

const anchors: Record<string, readonly string[]> = {
  '@version': ['version_data', 'versions', anyName],
  ...Object.fromEntries(
    schemeAnchors.map(kind => [`@${kind}`, ['server', 'authentication', 'securitySchemes', anyName]]),
  ),
};

/** The path with its anchor spelt out, any name standing for the one that only a document can tell. */
export const spelt = (path: readonly string[]): readonly string[] =>
  path[0] !== undefined && path[0] in anchors ? [...anchors[path[0]]!, ...path.slice(1)] : path;

function plant(root: Node, path: readonly string[], schema: z.ZodType): void {
  let at = root;
  for (const segment of path) {
    const next = at.children.get(segment) ?? node();
    at.children.set(segment, next);
    at = next;
  }
  at.leaves.push(schema);
}

function plantRows(root: Node, rows: readonly Row[], side: Side): void {
  for (const row of rows) for (const path of row[side]?.paths ?? []) plant(root, spelt(path), schemaOfRow(row, side));
}

function schemaOfRow(row: Row, side: Side): z.ZodType {
  const given = row[side]?.schema;
  if (given) return given;
  if (!row.items) return lenient(row.rule!);
  const item = objectOf(row.items.rows, side);
  return (row.items.kind === 'list' ? z.array(item) : z.record(z.string(), item)).nullable();
}

/** The rule without its default. Where a list, an object or a map may stand, null stands for none. */
function lenient(rule: z.ZodType): z.ZodType {
  const bare = rule instanceof z.ZodDefault ? (rule.unwrap() as z.ZodType) : rule;
  const container = bare instanceof z.ZodArray || bare instanceof z.ZodObject || bare instanceof z.ZodRecord;
  return container || rule === timestamp ? bare.nullable() : bare;
}

function grown(at: Node, where: string): z.ZodType {
  if (at.children.size === 0) return at.leaves.length === 1 ? at.leaves[0]! : z.union(unique(at.leaves));
  if (at.leaves.length > 0) throw new Error(`${where} is declared both as a value and as an object`);
  const any = at.children.get(anyName);
  if (any) return z.record(z.string(), grown(any, `${where}.${anyName}`)).nullable();
  const shape = [...at.children].map(([name, child]) => [name, grown(child, `${where}.${name}`).optional()]);
  return z.looseObject(Object.fromEntries(shape)).nullable();
}

function unique(leaves: readonly z.ZodType[]): [z.ZodType, ...z.ZodType[]] {
  return [...new Set(leaves)] as [z.ZodType, ...z.ZodType[]];
}

/** A list entry or map value. */
export function objectOf(rows: readonly Row[], side: Side): z.ZodType {
  const root = node();
  plantRows(root, rows, side);
  return root.children.size === 0 ? z.looseObject({}) : ((grown(root, '') as z.ZodNullable).unwrap() as z.ZodType);
}

/** The whole form: the classic definition, or the gateway's part of the OpenAPI document. */
export function schemaOf(side: Side): z.ZodObject {
  const root = node();
  for (const { rows } of [...Object.values(facets), ...Object.values(versionFacets)]) plantRows(root, rows, side);
  for (const { classic, oas, oasList, entry } of Object.values(features)) {
    const item = objectOf(entry.rows, side);
    if (side === 'classic' && classic) plant(root, [...anchors['@version']!, 'extended_paths', classic], list(item));
    if (side === 'oas' && oas)
      plant(root, ['middleware', 'operations', anyName, oas], oasList ? list(item) : item.nullable());
  }
  return (grown(root, side) as z.ZodNullable).unwrap() as z.ZodObject;
}

const list = (item: z.ZodType) => z.array(item).nullable();
