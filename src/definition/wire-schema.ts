import { z } from 'zod';
import { legacyMembers } from '#base/members.ts';
import { carryOverKey } from './convert-block.ts';
import { facets, features, versionFacets } from './definition.ts';
import type { DefinitionFormat, Row } from './facet.ts';
import { schemeKinds } from './facets/schemes.ts';
import { legacyPlaces } from './legacy-members.ts';
import { primitiveMembers, refusedMcpFeatures } from './mcp-names.ts';
import { timestampRule } from './rules.ts';

/**
 * Schema of one wire format, built from the rows. Every member is optional. Unknown members pass, so that conversions
 * preserve what older releases stored; the member check reports them.
 */
interface Node {
  readonly children: Map<string, Node>;
  readonly leaves: z.ZodType[];
  readonly legacy: string[];
}

/** Wildcard segment: any name, as in a map. */
export const anyName = '*';

const createNode = (): Node => ({ children: new Map(), leaves: [], legacy: [] });

const anchors: Record<string, readonly string[]> = {
  '@version': ['version_data', 'versions', anyName],
  ...Object.fromEntries(
    schemeKinds.map(kind => [`@${kind}`, ['server', 'authentication', 'securitySchemes', anyName]]),
  ),
};

/** Path with its anchor expanded; a wildcard stands for names that depend on the document. */
export const expandAnchor = (path: readonly string[]): readonly string[] =>
  path[0] !== undefined && path[0] in anchors ? [...anchors[path[0]]!, ...path.slice(1)] : path;

function nodeAt(root: Node, path: readonly string[]): Node {
  let at = root;
  for (const segment of path) {
    const next = at.children.get(segment) ?? createNode();
    at.children.set(segment, next);
    at = next;
  }
  return at;
}

const addLeaf = (root: Node, path: readonly string[], schema: z.ZodType) => void nodeAt(root, path).leaves.push(schema);

/** Carried-over values of the other format are free-form. */
const carryOver = z.record(z.string(), z.unknown());
const addCarryOver = (root: Node, path: readonly string[], format: DefinitionFormat) =>
  addLeaf(root, [...path, carryOverKey[format === 'classic' ? 'oas' : 'classic']], carryOver);

function addRows(root: Node, rows: readonly Row[], format: DefinitionFormat): void {
  for (const row of rows)
    for (const path of row[format]?.paths ?? []) addLeaf(root, expandAnchor(path), buildRowSchema(row, format));
}

function buildRowSchema(row: Row, format: DefinitionFormat): z.ZodType {
  const schema = row[format]?.schema;
  if (schema) return schema;
  if (!row.items) return withoutDefault(row.rule!);
  const item = buildItemSchema(row.items.rows, format);
  return (row.items.kind === 'list' ? z.array(item) : z.record(z.string(), item)).nullable();
}

/** Rule without its default. For a list, an object or a map, null means absent. */
function withoutDefault(rule: z.ZodType): z.ZodType {
  const bare = rule instanceof z.ZodDefault ? (rule.unwrap() as z.ZodType) : rule;
  const container = bare instanceof z.ZodArray || bare instanceof z.ZodObject || bare instanceof z.ZodRecord;
  return container || rule === timestampRule ? bare.nullable() : bare;
}

function buildNodeSchema(at: Node, where: string): z.ZodType {
  if (at.children.size === 0) return at.leaves.length === 1 ? at.leaves[0]! : z.union(uniqueLeaves(at.leaves));
  if (at.leaves.length > 0) throw new Error(`${where} is declared both as a value and as an object`);
  const any = at.children.get(anyName);
  if (any) return z.record(z.string(), buildNodeSchema(any, `${where}.${anyName}`)).nullable();
  const shape = [...at.children].map(([name, child]) => [name, buildNodeSchema(child, `${where}.${name}`).optional()]);
  return legacyMembers(z.looseObject(Object.fromEntries(shape)), at.legacy).nullable();
}

function uniqueLeaves(leaves: readonly z.ZodType[]): [z.ZodType, ...z.ZodType[]] {
  return [...new Set(leaves)] as [z.ZodType, ...z.ZodType[]];
}

/** Schema of a list entry or map value. */
function buildItemSchema(rows: readonly Row[], format: DefinitionFormat): z.ZodType {
  const root = createNode();
  addRows(root, rows, format);
  addCarryOver(root, [], format);
  return (buildNodeSchema(root, '') as z.ZodNullable).unwrap() as z.ZodType;
}

const securitySchema = z.array(z.record(z.string(), z.array(z.string()))).nullable();

/** Facets without a place in an MCP proxy. */
const facetsWithoutMcp: readonly unknown[] = [facets.cache, facets.batch];

/** Schema of a whole format: the classic definition, or the gateway extension of the OpenAPI document. */
export function buildWireSchema(format: DefinitionFormat, { isMcp = false } = {}): z.ZodObject {
  const root = createNode();
  for (const facet of [...Object.values(facets), ...Object.values(versionFacets)])
    if (!isMcp || !facetsWithoutMcp.includes(facet)) addRows(root, facet.rows, format);
  const places = isMcp ? ['operations', ...Object.values(primitiveMembers)] : ['operations'];
  for (const { classic, oas, oasList, entry } of Object.values(features)) {
    const item = buildItemSchema(entry.rows, format);
    if (format === 'classic' && classic)
      addLeaf(root, [...anchors['@version']!, 'extended_paths', classic], list(item));
    if (format === 'oas' && oas && !(isMcp && oas in refusedMcpFeatures))
      for (const place of places)
        addLeaf(root, ['middleware', place, anyName, oas], oasList ? list(item) : item.nullable());
  }
  if (isMcp)
    for (const place of Object.values(primitiveMembers))
      addLeaf(root, ['middleware', place, anyName, 'security'], securitySchema);
  addCarryOver(root, [], format);
  if (format === 'oas') addCarryOver(root, ['middleware', 'operations', anyName], format);
  for (const { path, names } of legacyPlaces[format]) nodeAt(root, path).legacy.push(...names);
  return (buildNodeSchema(root, format) as z.ZodNullable).unwrap() as z.ZodObject;
}

const list = (item: z.ZodType) => z.array(item).nullable();
