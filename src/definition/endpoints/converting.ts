import type { JsonObject } from '#base/json-tree.ts';
import { arrayOrEmpty, deleteAt, getAt, isObject, isZeroValue, objectOrEmpty, setAt } from '#base/json-tree.ts';
import { convertItem } from '../convert-block.ts';
import { features } from '../definition.ts';
import type { Feature } from './feature.ts';
import { accessLists, currentLists, isLegacy, memberOf, originalPath } from './lists.ts';
import { classicPath, openApiPath, operationIdOf, operationsOf } from './paths.ts';

/** Between lists of endpoints in a version and features of operations in a document. */
const shared = (Object.values(features) as unknown as Feature[]).filter(({ classic, oas }) => classic && oas);
const anyMethod = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'];
const rowsOf = (feature: Feature) => feature.entry.rows.filter(({ name }) => name !== 'path' && name !== 'method');

/**
 * Gives the entries of a classic version to the operations of the document, which grows the operations it lacks.
 * Returns what is left of the version: an entry whose operation already has that feature stays behind, since only the
 * first one counts and OpenAPI has room for no second.
 */
export function endpointsToOas(version: JsonObject, document: JsonObject, operations: JsonObject): JsonObject {
  const rest = structuredClone(version);
  const lists = currentLists(version);
  const ground = groundOf(document, operations);
  if (isLegacy(version)) setAside(rest);
  for (const feature of shared) {
    const left = arrayOrEmpty(lists[feature.classic!]).filter(entry => !place(feature, objectOrEmpty(entry), ground));
    const path = ['extended_paths', feature.classic!];
    if (left.length > 0) setAt(rest, path, left);
    else deleteAt(rest, path);
  }
  for (const path of [['extended_paths', 'cache'], ['use_extended_paths']]) deleteAt(rest, path);
  if (isLegacy(version)) for (const name of accessLists) deleteAt(rest, ['paths', name]);
  if (isZeroValue(rest.extended_paths)) delete rest.extended_paths;
  return rest;
}

/** Lists that did not count must not begin to when the version comes home. */
function setAside(version: JsonObject): void {
  if (version.extended_paths !== undefined) version['x-gw-unused-extended-paths'] = version.extended_paths;
  delete version.extended_paths;
}

/** A document on which operations are declared, with the id of each by its classic path and method. */
interface Ground {
  readonly document: JsonObject;
  readonly operations: JsonObject;
  readonly ids: Map<string, string>;
}

function groundOf(document: JsonObject, operations: JsonObject): Ground {
  const ids = operationsOf(document.paths).map(({ id, path, method }): [string, string] => [
    `${method} ${originalPath(objectOrEmpty(operations[id])) ?? classicPath(path)}`,
    id,
  ]);
  return { document, operations, ids: new Map(ids) };
}

function place(feature: Feature, entry: JsonObject, ground: Ground): boolean {
  const { path, method, ...said } = entry;
  if (typeof path !== 'string' || path === '') return false;
  const member = convertItem(rowsOf(feature), 'classic', 'oas', said, feature.lens);
  // Only in the access lists does a missing method stand for all of them.
  const named = method || !accessLists.includes(feature.classic!) ? [String(method).toUpperCase()] : anyMethod;
  if (!named.every(one => anyMethod.includes(one))) return false;
  const free = named.flatMap(one => {
    const operation = operationAt(ground, path, one);
    return operation === undefined || memberOf(feature, operation) ? [] : [operation];
  });
  for (const operation of free) operation[feature.oas!] = structuredClone(feature.oasList ? listed(member) : member);
  return free.length > 0;
}

/** A list of which the first counts keeps the others with the first. */
const others = 'x-gw-others';
const listed = ({ [others]: more, ...first }: JsonObject): JsonObject[] => [
  first,
  ...(arrayOrEmpty(more) as JsonObject[]),
];

/** What the document says of one operation, made if it says nothing yet; undefined where it has no room for one. */
function operationAt({ document, operations, ids }: Ground, pattern: string, method: string): JsonObject | undefined {
  const key = `${method} ${pattern}`;
  const known = ids.get(key);
  const { path, parameters } = openApiPath(pattern);
  const free = known === undefined ? freePath(document, path, method) : path;
  if (free === undefined) return undefined;
  const id = known ?? declare(document, free, method, parameters);
  ids.set(key, id);
  const given = getAt(operations, [id]);
  const operation = isObject(given) ? given : {};
  setAt(operations, [id], operation);
  if (known === undefined && classicPath(free) !== pattern) setAt(operation, ['x-gw-classic', 'path'], pattern);
  return operation;
}

/** Two classic patterns may have one OpenAPI path; its last parameter is renamed until the path is free. */
function freePath(document: JsonObject, path: string, method: string): string | undefined {
  let free = path;
  while (getAt(document.paths, [free, method.toLowerCase()]) !== undefined) {
    if (!free.includes('{')) return undefined;
    free = free.replace(/\{([^}]*)\}(?!.*\{)/, '{$1_}');
  }
  return free;
}

function declare(document: JsonObject, path: string, method: string, parameters: JsonObject[]): string {
  const id = operationIdOf(path, method);
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
 * Gives the features of operations to the lists of a classic version, the more particular path first. `rest` is what
 * is left of the gateway's part and loses what was carried over.
 */
export function endpointsToClassic(paths: unknown, extension: JsonObject, rest: JsonObject, version: JsonObject): void {
  const given = objectOrEmpty(objectOrEmpty(extension.middleware).operations);
  const lists: Record<string, JsonObject[]> = {};
  for (const { id, path, method } of operationsOf(paths)) {
    const operation = objectOrEmpty(given[id]);
    for (const feature of shared) {
      const member = memberOf(feature, operation);
      if (!member) continue;
      const more = feature.oasList ? arrayOrEmpty(operation[feature.oas!]).slice(1) : [];
      const whole = more.length > 0 ? { ...member, [others]: more } : member;
      const entry = {
        path: originalPath(operation) ?? classicPath(path),
        method,
        ...convertItem(rowsOf(feature), 'oas', 'classic', whole, feature.lens),
      };
      lists[feature.classic!] = [...(lists[feature.classic!] ?? []), entry];
      deleteAt(rest, ['middleware', 'operations', id, feature.oas!]);
    }
    deleteAt(rest, ['middleware', 'operations', id, 'x-gw-classic', 'path']);
  }
  // What came home in the bag had lost to an entry before it, and still does.
  for (const [name, list] of Object.entries(lists))
    setAt(version, ['extended_paths', name], [...list, ...arrayOrEmpty(getAt(version, ['extended_paths', name]))]);
}
