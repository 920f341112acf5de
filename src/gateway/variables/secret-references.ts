import type { SecretSource } from '#base/secrets.ts';
import { facets, features, versionFacets } from '#definition/definition.ts';
import type { Facet, Row, Values } from '#definition/facet.ts';
import type { Model, VersionModel } from '#definition/model.ts';
import { areSharedDefaults } from '#definition/read-fields.ts';
import type { DefinitionSecrets } from '../pipeline/services.ts';

/** A text that is a secret reference as a whole. Secrets in files have plain names: `file:///a/b` is a URL, no reference. */
export const referencePattern = /^(?:(secrets|env|vault|consul|kv):\/\/(.*)|(file):\/\/([^/].*))$/s;
export const referencePlaces: Readonly<Record<string, SecretSource>> = { secrets: 'conf', env: 'env', file: 'file' };

/** A secret variable, which only fields with variables expand: in any other field it would be used literally. */
const secretVariable = /\$secret_[a-z]+\.[A-Za-z0-9_.-]+/;

export interface SecretReference {
  readonly kind: string;
  readonly name: string;
}

/** Undefined for a text that is no reference. */
export function parseReference(text: string): SecretReference | undefined {
  const match = text.includes('://') ? referencePattern.exec(text) : null;
  return match ? { kind: (match[1] ?? match[3])!, name: (match[2] ?? match[4])! } : undefined;
}

export interface ResolvedModel {
  readonly model: Model;
  /** Why the first unresolved reference is unresolved; empty where there is none. */
  readonly missing: string;
}

type FacetList = readonly (readonly [string, Pick<Facet, 'name' | 'rows'>])[];
const apiFacets = Object.entries(facets) as unknown as FacetList;
const facetsOfVersion = Object.entries(versionFacets) as unknown as FacetList;
const featureEntries: FacetList = Object.entries(features).map(([name, it]) => [name, it.entry as unknown as Facet]);

/**
 * Resolves the secret references of a definition; returns the same object where there are none. Only fields whose row allows
 * references are read: schemas, examples, templates, mock responses and plugin data are literal. In any other field a
 * reference is an error, since it would be used literally.
 */
export function resolveReferences(model: Model, secrets: DefinitionSecrets): ResolvedModel {
  let missing = '';
  const rejectVariable = (text: string, where: string) => {
    const [found] = secretVariable.exec(text) ?? [];
    if (found !== undefined) missing ||= `${where} must be a secret reference alone, without other text: ${found}`;
  };
  const place: ReferenceVisitor = {
    resolve(text, where) {
      const reference = parseReference(text);
      if (reference === undefined) {
        rejectVariable(text, where);
        return text;
      }
      const kept = Object.hasOwn(referencePlaces, reference.kind) ? referencePlaces[reference.kind]! : undefined;
      const secret = kept && secrets.find(kept, reference.name);
      if (secret === undefined)
        missing ||= kept ? `the secret ${text} is missing` : `there is no secret source ${reference.kind}`;
      return secret ?? '';
    },
    reject(text, where) {
      if (parseReference(text) !== undefined) missing ||= `${where} cannot reference a secret: ${text}`;
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
  /** Replaces a reference by its secret. */
  resolve(text: string, where: string): string;
  /** Records a reference in a field that takes none. */
  reject(text: string, where: string): string;
}

function resolveVersion(version: VersionModel, place: ReferenceVisitor): VersionModel {
  const own = resolveFacets(facetsOfVersion, version as unknown as Values, place) as unknown as VersionModel;
  let lists = own.endpoints as unknown as Readonly<Record<string, readonly Values[]>>;
  for (const [name, { rows }] of featureEntries) {
    const entries = lists[name] ?? [];
    const result = mapItems(entries, entry => resolveRows(rows, entry, `endpoints.${name}`, place));
    if (result !== entries) lists = { ...lists, [name]: result };
  }
  return lists === (own.endpoints as unknown)
    ? own
    : { ...own, endpoints: lists as unknown as VersionModel['endpoints'] };
}

function resolveFacets(list: FacetList, values: Values, place: ReferenceVisitor): Values {
  let result = values;
  for (const [name, { rows }] of list) {
    const facetValues = values[name] as Values;
    if (areSharedDefaults(facetValues)) continue;
    const resolved = resolveRows(rows, facetValues, name, place);
    if (resolved !== facetValues) result = { ...result, [name]: resolved };
  }
  return result;
}

function resolveRows(rows: readonly Row[], values: Values, where: string, place: ReferenceVisitor): Values {
  let result = values;
  for (const row of rows) {
    const value = values[row.name];
    const resolved = resolveRow(row, value, `${where}.${row.name}`, place);
    if (resolved !== value) result = { ...result, [row.name]: resolved };
  }
  return result;
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

/** Resolves the named members of a list of objects. */
function resolveMembers(value: unknown, names: readonly string[], put: (text: string) => string): unknown {
  return mapItems(value as readonly Values[], item => {
    const result = names.map(name => [name, mapTexts(item[name], put)] as const);
    return result.every(([name, it]) => it === item[name]) ? item : { ...item, ...Object.fromEntries(result) };
  });
}

/** Maps every text inside a value; an unchanged value is not copied. */
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
