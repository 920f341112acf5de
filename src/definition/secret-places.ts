import type { JsonObject } from '#base/json-tree.ts';
import { isObject } from '#base/json-tree.ts';
import { facets, features, versionFacets } from './definition.ts';
import type { Facet, Row, Secrecy, Side } from './facet.ts';
import { anyName, spelt } from './wire-schema.ts';

/**
 * Where secrets stand in the wire forms, from the rows marked `secret`. Sealing at rest, masking for readers and putting a
 * masked value back are walks over these places.
 */
interface Node {
  readonly children: Map<string, Node>;
  secrecy: Secrecy | undefined;
}

/** Changes one secret; `path` says where it stands. */
export type TurnSecret = (value: string, path: string) => string;

const node = (): Node => ({ children: new Map(), secrecy: undefined });
const extensionName = 'x-gw-api-gateway';
const streamingName = 'x-gw-streaming';
/** What one form cannot say travels along in these, in no order that a row knows. */
const carriedNames: ReadonlySet<string> = new Set(['x-gw-classic', 'x-gw-oas', 'x-gw-unused-extended-paths']);

function plant(root: Node, path: readonly string[]): Node {
  let at = root;
  for (const segment of path) {
    const next = at.children.get(segment) ?? node();
    at.children.set(segment, next);
    at = next;
  }
  return at;
}

function plantRows(root: Node, rows: readonly Row[], side: Side): void {
  for (const row of rows)
    for (const path of row[side]?.paths ?? []) {
      if (row.secret === undefined && row.items === undefined) continue;
      const at = plant(root, spelt(path));
      at.secrecy ??= row.secret;
      if (row.items) plantRows(row.items.kind === 'map' ? plant(at, [anyName]) : at, row.items.rows, side);
    }
}

function placesOf(side: Side): Node {
  const root = node();
  for (const { rows } of [...Object.values(facets), ...Object.values(versionFacets)] as unknown as Facet[])
    plantRows(root, rows, side);
  const above =
    side === 'classic'
      ? ['version_data', 'versions', anyName, 'extended_paths']
      : ['middleware', 'operations', anyName];
  for (const feature of Object.values(features)) {
    const member = feature[side];
    if (member !== null) plantRows(plant(root, [...above, member]), feature.entry.rows as readonly Row[], side);
  }
  return root;
}

const classicPlaces = placesOf('classic');
const oasPlaces = node();
oasPlaces.children.set(extensionName, placesOf('oas'));
plant(oasPlaces, [streamingName]).secrecy = 'named';

/** Names of members that hold secrets wherever they stand: those of the rows, and those people give theirs. */
const rowNames = new Set<string>();
(function collect(at: Node): void {
  for (const [name, child] of at.children) {
    if (child.secrecy === 'all') rowNames.add(name);
    collect(child);
  }
})({ children: new Map([...classicPlaces.children, ...oasPlaces.children]), secrecy: undefined });
rowNames.delete(anyName);
for (const common of ['body', 'value', 'message', 'add']) rowNames.delete(common);

const secretWord = /secret|password|passphrase|private_?key|api_?key|access_?key|credential|token$|^authorization$/i;
const headerMaps: ReadonlySet<string> = new Set(['headers', 'header_map', 'add_headers', 'add']);
const isSecretName = (name: string) => secretWord.test(name) || headerMaps.has(name) || rowNames.has(name);

/** The definition with its secrets turned; the very same where none changes. */
export const mapSecrets = <T>(form: 'classic' | 'oas', definition: T, turn: TurnSecret): T =>
  walk(definition, form === 'classic' ? classicPlaces : oasPlaces, '', turn) as T;

/** The same for a free-form value, by the names of its members. */
export const mapNamedSecrets = <T>(value: T, turn: TurnSecret): T => walkNamed(value, '', turn) as T;

function walk(value: unknown, at: Node, path: string, turn: TurnSecret): unknown {
  if (at.secrecy === 'all') return turnAll(value, path, turn);
  if (at.secrecy === 'named') return walkNamed(value, path, turn);
  if (Array.isArray(value)) return changedList(value, (item, place) => walk(item, at, `${path}[${place}]`, turn));
  if (!isObject(value)) return value;
  const any = at.children.get(anyName);
  return changedBag(value, (member, name) => {
    const below = path === '' ? name : `${path}.${name}`;
    if (carriedNames.has(name)) return walkNamed(member, below, turn);
    const next = at.children.get(name) ?? any;
    return next ? walk(member, next, below, turn) : member;
  });
}

function walkNamed(value: unknown, path: string, turn: TurnSecret): unknown {
  if (Array.isArray(value)) return changedList(value, (item, place) => walkNamed(item, `${path}[${place}]`, turn));
  if (!isObject(value)) return value;
  return changedBag(value, (member, name) => {
    const below = path === '' ? name : `${path}.${name}`;
    return isSecretName(name) ? turnAll(member, below, turn) : walkNamed(member, below, turn);
  });
}

/** Every text; of pairs of name and value, the value. An empty text is no secret. */
function turnAll(value: unknown, path: string, turn: TurnSecret): unknown {
  if (typeof value === 'string') return value === '' ? value : turn(value, path);
  if (Array.isArray(value))
    return changedList(value, (item, place) => {
      const below = `${path}[${place}]`;
      if (!isObject(item) || typeof item.name !== 'string' || !('value' in item)) return turnAll(item, below, turn);
      return changedBag(item, (member, name) => (name === 'value' ? turnAll(member, `${below}.value`, turn) : member));
    });
  return isObject(value) ? changedBag(value, (member, name) => turnAll(member, `${path}.${name}`, turn)) : value;
}

function changedList(list: readonly unknown[], turn: (item: unknown, place: number) => unknown): readonly unknown[] {
  const items = list.map(turn);
  return items.some((item, place) => item !== list[place]) ? items : list;
}

function changedBag(bag: JsonObject, turn: (member: unknown, name: string) => unknown): JsonObject {
  const members = Object.entries(bag).map(([name, member]) => [name, turn(member, name)] as const);
  return members.some(([name, member]) => member !== bag[name]) ? Object.fromEntries(members) : bag;
}
