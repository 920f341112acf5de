import { z } from 'zod';
import { legacyMembers } from '#base/members.ts';
import { bagName } from './convert-block.ts';
import { facets, features, versionFacets } from './definition.ts';
import type { Row, Side } from './facet.ts';
import { schemeAnchors } from './facets/schemes.ts';
import { legacyPlaces } from './legacy-members.ts';
import { timestamp } from './rules.ts';

/**
 * The shape of one wire form, put together from the rows. Every member may be missing. The schema lets unknown members
 * pass, so that conversions keep what older installations stored; the check of members reports them.
 */
interface Node {
  readonly children: Map<string, Node>;
  readonly leaves: z.ZodType[];
  readonly legacy: string[];
}

/** Stands for any name, as in a map. */
export const anyName = '*';

const node = (): Node => ({ children: new Map(), leaves: [], legacy: [] });

const anchors: Record<string, readonly string[]> = {
  '@version': ['version_data', 'versions', anyName],
  ...Object.fromEntries(
    schemeAnchors.map(kind => [`@${kind}`, ['server', 'authentication', 'securitySchemes', anyName]]),
  ),
};

/** The path with its anchor spelt out, any name standing for the one that only a document can tell. */
export const spelt = (path: readonly string[]): readonly string[] =>
  path[0] !== undefined && path[0] in anchors ? [...anchors[path[0]]!, ...path.slice(1)] : path;

function nodeAt(root: Node, path: readonly string[]): Node {
  let at = root;
  for (const segment of path) {
    const next = at.children.get(segment) ?? node();
    at.children.set(segment, next);
    at = next;
  }
  return at;
}

const plant = (root: Node, path: readonly string[], schema: z.ZodType) => void nodeAt(root, path).leaves.push(schema);

/** What a conversion could not say in this form travels in a bag named after the other one: its content is free. */
const bag = z.record(z.string(), z.unknown());
const plantBag = (root: Node, path: readonly string[], side: Side) =>
  plant(root, [...path, bagName[side === 'classic' ? 'oas' : 'classic']], bag);

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
  return legacyMembers(z.looseObject(Object.fromEntries(shape)), at.legacy).nullable();
}

function unique(leaves: readonly z.ZodType[]): [z.ZodType, ...z.ZodType[]] {
  return [...new Set(leaves)] as [z.ZodType, ...z.ZodType[]];
}

/** A list entry or map value. */
export function objectOf(rows: readonly Row[], side: Side): z.ZodType {
  const root = node();
  plantRows(root, rows, side);
  plantBag(root, [], side);
  return (grown(root, '') as z.ZodNullable).unwrap() as z.ZodType;
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
  plantBag(root, [], side);
  if (side === 'oas') plantBag(root, ['middleware', 'operations', anyName], side);
  for (const { path, names } of legacyPlaces[side]) nodeAt(root, path).legacy.push(...names);
  return (grown(root, side) as z.ZodNullable).unwrap() as z.ZodObject;
}

const list = (item: z.ZodType) => z.array(item).nullable();
