import type { JsonObject } from '#base/json-tree.ts';
import { isObject } from '#base/json-tree.ts';
import { facets, features, versionFacets } from './definition.ts';
import { extensionName, streamingName } from './document-members.ts';
import type { DefinitionFormat, Facet, Row, Secrecy } from './facet.ts';
import { primitiveMembers } from './mcp-names.ts';
import { anyName, expandAnchor } from './wire-schema.ts';

/**
 * Locations of secrets in the wire formats, from the rows marked `secret`. Sealing at rest, masking for readers and
 * restoring masked values walk these locations.
 */
interface Node {
  readonly children: Map<string, Node>;
  secrecy: Secrecy | undefined;
}

/** Maps one secret at its path. */
export type MapSecret = (value: string, path: string) => string;

const createNode = (): Node => ({ children: new Map(), secrecy: undefined });
/** Carried-over values, whose structure no row describes. */
const carryOverKeys: ReadonlySet<string> = new Set(['x-gw-classic', 'x-gw-oas', 'x-gw-unused-extended-paths']);

function ensureNode(root: Node, path: readonly string[]): Node {
  let at = root;
  for (const segment of path) {
    const next = at.children.get(segment) ?? createNode();
    at.children.set(segment, next);
    at = next;
  }
  return at;
}

function addSecretRows(root: Node, rows: readonly Row[], format: DefinitionFormat): void {
  for (const row of rows)
    for (const path of row[format]?.paths ?? []) {
      if (row.secret === undefined && row.items === undefined) continue;
      const at = ensureNode(root, expandAnchor(path));
      at.secrecy ??= row.secret;
      if (row.items) addSecretRows(row.items.kind === 'map' ? ensureNode(at, [anyName]) : at, row.items.rows, format);
    }
}

function buildSecretTree(format: DefinitionFormat): Node {
  const root = createNode();
  for (const { rows } of [...Object.values(facets), ...Object.values(versionFacets)] as unknown as Facet[])
    addSecretRows(root, rows, format);
  const places =
    format === 'classic'
      ? [['version_data', 'versions', anyName, 'extended_paths']]
      : ['operations', ...Object.values(primitiveMembers)].map(member => ['middleware', member, anyName]);
  for (const above of places)
    for (const feature of Object.values(features)) {
      const member = feature[format];
      if (member !== null)
        addSecretRows(ensureNode(root, [...above, member]), feature.entry.rows as readonly Row[], format);
    }
  return root;
}

const classicSecrets = buildSecretTree('classic');
const oasSecrets = createNode();
oasSecrets.children.set(extensionName, buildSecretTree('oas'));
ensureNode(oasSecrets, [streamingName]).secrecy = 'named';

/** Names of members that hold secrets anywhere: those of the rows, and common ones. */
const rowNames = new Set<string>();
(function collect(at: Node): void {
  for (const [name, child] of at.children) {
    if (child.secrecy === 'all') rowNames.add(name);
    collect(child);
  }
})({ children: new Map([...classicSecrets.children, ...oasSecrets.children]), secrecy: undefined });
rowNames.delete(anyName);
for (const common of ['body', 'value', 'message', 'add']) rowNames.delete(common);

const secretWord = /secret|password|passphrase|private_?key|api_?key|access_?key|credential|token$|^authorization$/i;
const headerMaps: ReadonlySet<string> = new Set(['headers', 'header_map', 'add_headers', 'add']);
const isSecretName = (name: string) => secretWord.test(name) || headerMaps.has(name) || rowNames.has(name);

/** Maps the secrets of a definition; returns the same object where none changes. */
export const mapSecrets = <T>(format: 'classic' | 'oas', definition: T, map: MapSecret): T =>
  mapByPlace(definition, format === 'classic' ? classicSecrets : oasSecrets, '', map) as T;

/** Maps the secrets of a free-form value by the names of its members. */
export const mapNamedSecrets = <T>(value: T, map: MapSecret): T => mapByName(value, '', map) as T;

function mapByPlace(value: unknown, at: Node, path: string, map: MapSecret): unknown {
  if (at.secrecy === 'all') return mapAllTexts(value, path, map);
  if (at.secrecy === 'named') return mapByName(value, path, map);
  if (Array.isArray(value)) return mapArray(value, (item, place) => mapByPlace(item, at, `${path}[${place}]`, map));
  if (!isObject(value)) return value;
  const any = at.children.get(anyName);
  return mapObject(value, (member, name) => {
    const below = path === '' ? name : `${path}.${name}`;
    if (carryOverKeys.has(name)) return mapByName(member, below, map);
    const next = at.children.get(name) ?? any;
    return next ? mapByPlace(member, next, below, map) : member;
  });
}

function mapByName(value: unknown, path: string, map: MapSecret): unknown {
  if (Array.isArray(value)) return mapArray(value, (item, place) => mapByName(item, `${path}[${place}]`, map));
  if (!isObject(value)) return value;
  return mapObject(value, (member, name) => {
    const below = path === '' ? name : `${path}.${name}`;
    return isSecretName(name) ? mapAllTexts(member, below, map) : mapByName(member, below, map);
  });
}

/** Maps every text; of name-value pairs, the value. An empty text is no secret. */
function mapAllTexts(value: unknown, path: string, map: MapSecret): unknown {
  if (typeof value === 'string') return value === '' ? value : map(value, path);
  if (Array.isArray(value))
    return mapArray(value, (item, place) => {
      const below = `${path}[${place}]`;
      if (!isObject(item) || typeof item.name !== 'string' || !('value' in item)) return mapAllTexts(item, below, map);
      return mapObject(item, (member, name) =>
        name === 'value' ? mapAllTexts(member, `${below}.value`, map) : member,
      );
    });
  return isObject(value) ? mapObject(value, (member, name) => mapAllTexts(member, `${path}.${name}`, map)) : value;
}

function mapArray(list: readonly unknown[], map: (item: unknown, place: number) => unknown): readonly unknown[] {
  const items = list.map(map);
  return items.some((item, place) => item !== list[place]) ? items : list;
}

function mapObject(object: JsonObject, map: (member: unknown, name: string) => unknown): JsonObject {
  const members = Object.entries(object).map(([name, member]) => [name, map(member, name)] as const);
  return members.some(([name, member]) => member !== object[name]) ? Object.fromEntries(members) : object;
}
