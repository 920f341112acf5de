import type { SecretSource } from '#base/secrets.ts';
import { facets, features, versionFacets } from '#definition/definition.ts';
import type { Facet, Row, Values } from '#definition/facet.ts';
import type { Model, VersionModel } from '#definition/model.ts';
import type { DefinitionSecrets } from './definition-secrets.ts';

/** A whole text that names a secret. What is kept in files has plain names: an address such as `file:///a/b` is none. */
export const referencePattern = /^(?:(secrets|env|vault|consul|kv):\/\/(.*)|(file):\/\/([^/].*))$/s;
export const referencePlaces: Readonly<Record<string, SecretSource>> = { secrets: 'conf', env: 'env', file: 'file' };

/** A secret among other text, which only fields that take variables put in: anywhere else its name would be the value. */
const secretVariable = /\$secret_[a-z]+\.[A-Za-z0-9_.-]+/;

export interface SecretReference {
  readonly kind: string;
  readonly name: string;
}

/** The secret that a whole text names; undefined for any other text. */
export function parseReference(text: string): SecretReference | undefined {
  const found = text.includes('://') ? referencePattern.exec(text) : null;
  return found ? { kind: (found[1] ?? found[3])!, name: (found[2] ?? found[4])! } : undefined;
}

export interface ResolvedModel {
  readonly model: Model;
  /** The first secret that cannot be put in, and why; empty where all are. */
  readonly missing: string;
}

type FacetList = readonly (readonly [string, Pick<Facet, 'name' | 'rows'>])[];
const apiFacets = Object.entries(facets) as unknown as FacetList;
const facetsOfVersion = Object.entries(versionFacets) as unknown as FacetList;
const featureEntries: FacetList = Object.entries(features).map(([name, it]) => [name, it.entry as unknown as Facet]);

/**
 * The definition with its secrets put in; the very same where it names none. Only fields whose row says so are read: schemas,
 * examples, templates, replies and the data of plugins are the author's own. Anywhere else a reference is an error, since it
 * would otherwise be used as it is written.
 */
export function resolveReferences(model: Model, secrets: DefinitionSecrets): ResolvedModel {
  let missing = '';
  const rejectVariable = (text: string, where: string) => {
    const [found] = secretVariable.exec(text) ?? [];
    if (found !== undefined) missing ||= `${where} cannot name a secret among other text: ${found}`;
  };
  const place: ReferenceVisitor = {
    resolve(text, where) {
      const named = parseReference(text);
      if (named === undefined) {
        rejectVariable(text, where);
        return text;
      }
      const kept = Object.hasOwn(referencePlaces, named.kind) ? referencePlaces[named.kind]! : undefined;
      const found = kept && secrets.find(kept, named.name);
      if (found === undefined)
        missing ||= kept ? `the secret ${text} is missing` : `the gateway keeps no secrets in ${named.kind}`;
      return found ?? '';
    },
    reject(text, where) {
      if (parseReference(text) !== undefined) missing ||= `${where} cannot name a secret: ${text}`;
      rejectVariable(text, where);
      return text;
    },
  };
  const own = resolveFacets(apiFacets, model as unknown as Values, place);
  const versions = mapItems(model.versions, version => resolveVersion(version, place));
  const changed = versions === model.versions ? own : { ...own, versions };
  return { model: changed as unknown as Model, missing };
}

interface ReferenceVisitor {
  /** Puts a secret in the place of its name. */
  resolve(text: string, where: string): string;
  /** Notes a name where none is read. */
  reject(text: string, where: string): string;
}

function resolveVersion(version: VersionModel, place: ReferenceVisitor): VersionModel {
  const own = resolveFacets(facetsOfVersion, version as unknown as Values, place) as unknown as VersionModel;
  let lists = own.endpoints as unknown as Readonly<Record<string, readonly Values[]>>;
  for (const [name, { rows }] of featureEntries) {
    const entries = lists[name] ?? [];
    const turned = mapItems(entries, entry => resolveRows(rows, entry, `endpoints.${name}`, place));
    if (turned !== entries) lists = { ...lists, [name]: turned };
  }
  return lists === (own.endpoints as unknown)
    ? own
    : { ...own, endpoints: lists as unknown as VersionModel['endpoints'] };
}

function resolveFacets(list: FacetList, values: Values, place: ReferenceVisitor): Values {
  let turned = values;
  for (const [name, { rows }] of list) {
    const given = values[name] as Values;
    const resolved = resolveRows(rows, given, name, place);
    if (resolved !== given) turned = { ...turned, [name]: resolved };
  }
  return turned;
}

function resolveRows(rows: readonly Row[], values: Values, where: string, place: ReferenceVisitor): Values {
  let turned = values;
  for (const row of rows) {
    const given = values[row.name];
    const resolved = resolveRow(row, given, `${where}.${row.name}`, place);
    if (resolved !== given) turned = { ...turned, [row.name]: resolved };
  }
  return turned;
}

function resolveRow(row: Row, value: unknown, where: string, place: ReferenceVisitor): unknown {
  const { interpolation, items } = row;
  if (interpolation === 'variables' || interpolation === 'nothing') return value;
  const put = (text: string) => place.resolve(text, where);
  if (interpolation === 'secret') return mapTexts(value, put);
  if (interpolation === 'secret or variables')
    return mapTexts(value, text => (parseReference(text) === undefined ? text : put(text)));
  if (Array.isArray(interpolation)) return resolveMembers(value, interpolation, put);
  const one = (item: unknown) => resolveRows(items!.rows, item as Values, where, place);
  if (items?.kind === 'list') return mapItems(value as readonly unknown[], one);
  if (items) return mapMembers(value as Values, one);
  return mapTexts(value, text => place.reject(text, where));
}

/** Of a list of objects, the members of these names. */
function resolveMembers(value: unknown, names: readonly string[], put: (text: string) => string): unknown {
  return mapItems(value as readonly Values[], item => {
    const turned = names.map(name => [name, mapTexts(item[name], put)] as const);
    return turned.every(([name, it]) => it === item[name]) ? item : { ...item, ...Object.fromEntries(turned) };
  });
}

/** Every text inside a value. What does not change is not copied. */
function mapTexts(value: unknown, turn: (text: string) => string): unknown {
  if (typeof value === 'string') return turn(value);
  if (typeof value !== 'object' || value === null) return value;
  const inner = (it: unknown) => mapTexts(it, turn);
  return Array.isArray(value) ? mapItems(value, inner) : mapMembers(value as Values, inner);
}

function mapItems<T>(list: readonly T[], turn: (item: T) => T): readonly T[] {
  const items = list.map(turn);
  return items.some((item, at) => item !== list[at]) ? items : list;
}

function mapMembers(value: Values, turn: (member: unknown) => unknown): Values {
  const members = Object.entries(value).map(([name, it]) => [name, turn(it)] as const);
  return members.some(([name, it]) => it !== value[name]) ? Object.fromEntries(members) : value;
}
