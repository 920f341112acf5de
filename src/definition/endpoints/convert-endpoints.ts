import type { JsonObject } from '#base/json-tree.ts';
import { arrayOrEmpty, deleteAt, getAt, isObject, isZeroValue, objectOrEmpty, setAt } from '#base/json-tree.ts';
import { convertItem } from '../convert-block.ts';
import { features } from '../definition.ts';
import { accessLists, findFeatureMember, findOriginalPath, isLegacy, normalizeLists } from './endpoint-lists.ts';
import type { Feature } from './feature.ts';
import { defaultOperationId, listOperations, toClassicPath, toOpenApiPath } from './paths.ts';

/** Endpoint conversion between lists of a classic version and operations of a document. */
const sharedFeatures = (Object.values(features) as unknown as Feature[]).filter(({ classic, oas }) => classic && oas);
const anyMethod = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'];
const featureRows = (feature: Feature) => feature.entry.rows.filter(({ name }) => name !== 'path' && name !== 'method');

/**
 * Adds the entries of a classic version to the operations of the document, declaring operations it lacks. Returns the
 * remainder of the version: an entry whose operation already has the feature stays there, since only the first entry
 * counts and OpenAPI has room for one.
 */
export function convertEndpointsToOas(version: JsonObject, document: JsonObject, operations: JsonObject): JsonObject {
  const rest = structuredClone(version);
  const lists = normalizeLists(version);
  const index = indexOperations(document, operations);
  if (isLegacy(version)) setAsideUnusedLists(rest);
  for (const feature of sharedFeatures) {
    const unconverted = arrayOrEmpty(lists[feature.classic!]).filter(
      entry => !addToOperations(feature, objectOrEmpty(entry), index),
    );
    const path = ['extended_paths', feature.classic!];
    if (unconverted.length > 0) setAt(rest, path, unconverted);
    else deleteAt(rest, path);
  }
  for (const path of [['extended_paths', 'cache'], ['use_extended_paths']]) deleteAt(rest, path);
  if (isLegacy(version)) for (const name of accessLists) deleteAt(rest, ['paths', name]);
  if (isZeroValue(rest.extended_paths)) delete rest.extended_paths;
  return rest;
}

/** Keeps lists without effect from taking effect when the version is converted back. */
function setAsideUnusedLists(version: JsonObject): void {
  if (version.extended_paths !== undefined) version['x-gw-unused-extended-paths'] = version.extended_paths;
  delete version.extended_paths;
}

/** Operation ids of a document, by classic path and method. */
interface OperationIndex {
  readonly document: JsonObject;
  readonly operations: JsonObject;
  readonly ids: Map<string, string>;
}

function indexOperations(document: JsonObject, operations: JsonObject): OperationIndex {
  const ids = listOperations(document.paths).map(({ id, path, method }): [string, string] => [
    `${method} ${findOriginalPath(objectOrEmpty(operations[id])) ?? toClassicPath(path)}`,
    id,
  ]);
  return { document, operations, ids: new Map(ids) };
}

function addToOperations(feature: Feature, entry: JsonObject, index: OperationIndex): boolean {
  const { path, method, ...settings } = entry;
  if (typeof path !== 'string' || path === '') return false;
  const member = convertItem(featureRows(feature), 'classic', 'oas', settings, feature.lens);
  // Only access lists read a missing method as every method.
  const named = method || !accessLists.includes(feature.classic!) ? [String(method).toUpperCase()] : anyMethod;
  if (!named.every(one => anyMethod.includes(one))) return false;
  const free = named.flatMap(one => {
    const operation = getOrDeclareOperation(index, path, one);
    return operation === undefined || findFeatureMember(feature, operation) ? [] : [operation];
  });
  for (const operation of free)
    operation[feature.oas!] = structuredClone(feature.oasList ? toMemberList(member) : member);
  return free.length > 0;
}

/** Key for the further entries of a list of which only the first counts. */
const otherEntriesKey = 'x-gw-others';
const toMemberList = ({ [otherEntriesKey]: more, ...first }: JsonObject): JsonObject[] => [
  first,
  ...(arrayOrEmpty(more) as JsonObject[]),
];

/** Gets or declares an operation; undefined where the document has no free path for it. */
function getOrDeclareOperation(
  { document, operations, ids }: OperationIndex,
  pattern: string,
  method: string,
): JsonObject | undefined {
  const key = `${method} ${pattern}`;
  const known = ids.get(key);
  const { path, parameters } = toOpenApiPath(pattern);
  const free = known === undefined ? freePath(document, path, method) : path;
  if (free === undefined) return undefined;
  const id = known ?? declareOperation(document, free, method, parameters);
  ids.set(key, id);
  const existing = getAt(operations, [id]);
  const operation = isObject(existing) ? existing : {};
  setAt(operations, [id], operation);
  if (known === undefined && toClassicPath(free) !== pattern) setAt(operation, ['x-gw-classic', 'path'], pattern);
  return operation;
}

/** Several classic patterns may map to one OpenAPI path; its last parameter is renamed until the path is free. */
function freePath(document: JsonObject, path: string, method: string): string | undefined {
  let free = path;
  while (getAt(document.paths, [free, method.toLowerCase()]) !== undefined) {
    if (!free.includes('{')) return undefined;
    free = free.replace(/\{([^}]*)\}(?!.*\{)/, '{$1_}');
  }
  return free;
}

function declareOperation(document: JsonObject, path: string, method: string, parameters: JsonObject[]): string {
  const id = defaultOperationId(path, method);
  const names = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name);
  const renamed = parameters.map((parameter, index) => ({ ...parameter, name: names[index] ?? parameter.name }));
  setAt(document, ['paths', path, method.toLowerCase()], {
    operationId: id,
    ...(renamed.length > 0 ? { parameters: renamed } : {}),
    responses: {},
  });
  return id;
}

/**
 * Adds the features of operations to the lists of a classic version, the more specific path first. Removes what it
 * converts from `rest`, the remainder of the gateway extension.
 */
export function convertEndpointsToClassic(
  paths: unknown,
  extension: JsonObject,
  rest: JsonObject,
  version: JsonObject,
): void {
  const operations = objectOrEmpty(objectOrEmpty(extension.middleware).operations);
  const lists: Record<string, JsonObject[]> = {};
  for (const { id, path, method } of listOperations(paths)) {
    const operation = objectOrEmpty(operations[id]);
    for (const feature of sharedFeatures) {
      const member = findFeatureMember(feature, operation);
      if (!member) continue;
      const more = feature.oasList ? arrayOrEmpty(operation[feature.oas!]).slice(1) : [];
      const whole = more.length > 0 ? { ...member, [otherEntriesKey]: more } : member;
      const entry = {
        path: findOriginalPath(operation) ?? toClassicPath(path),
        method,
        ...convertItem(featureRows(feature), 'oas', 'classic', whole, feature.lens),
      };
      lists[feature.classic!] = [...(lists[feature.classic!] ?? []), entry];
      deleteAt(rest, ['middleware', 'operations', id, feature.oas!]);
    }
    deleteAt(rest, ['middleware', 'operations', id, 'x-gw-classic', 'path']);
  }
  // Carried-over entries were shadowed by an earlier entry, and still are.
  for (const [name, list] of Object.entries(lists))
    setAt(version, ['extended_paths', name], [...list, ...arrayOrEmpty(getAt(version, ['extended_paths', name]))]);
}
