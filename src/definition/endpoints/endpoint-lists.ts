import type { JsonObject } from '#base/json-tree.ts';
import { arrayOrEmpty, isObject, isZeroValue, objectOrEmpty } from '#base/json-tree.ts';
import { features } from '../definition.ts';
import type { Fields } from '../facet.ts';
import { readFacet } from '../read-fields.ts';
import type { Feature, FeatureEntry } from './feature.ts';
import { listOperations, toClassicPath } from './paths.ts';

/** Endpoint lists of one version, as the gateway matches requests against them, in either format. */
export type Endpoints = {
  -readonly [K in keyof typeof features]: (typeof features)[K] extends Feature<infer F> ? EndpointEntry<F>[] : never;
};
/** The operation id is present in the OpenAPI format. */
type EndpointEntry<F extends Fields> = FeatureEntry<F> & { operationId?: string };

const cachedMethods = ['GET', 'HEAD', 'OPTIONS'];
export const accessLists: readonly string[] = ['ignored', 'black_list', 'white_list'];

/** Normalizes the lists of a classic version, including older notations. */
export function normalizeLists(version: JsonObject): Record<string, JsonObject[]> {
  if (isLegacy(version)) return readLegacyLists(objectOrEmpty(version.paths));
  const paths = objectOrEmpty(version.extended_paths);
  const lists: Record<string, JsonObject[]> = {};
  for (const { classic } of Object.values(features))
    if (classic) lists[classic] = arrayOrEmpty(paths[classic]).filter(isObject);
  for (const name of accessLists)
    lists[name] = lists[name]!.flatMap(entry => splitByMethod(entry, name, lists.mock_response!));
  const cached = arrayOrEmpty(paths.cache).flatMap(path => cachedMethods.map(method => ({ path, method })));
  lists.advance_cache_config!.push(...cached);
  return lists;
}

/** True where only the oldest lists, `paths`, count. */
export const isLegacy = (version: JsonObject) => version.use_extended_paths !== true && isObject(version.paths);

/** Lists of plain paths, for any method. */
function readLegacyLists(paths: JsonObject): Record<string, JsonObject[]> {
  return Object.fromEntries(
    accessLists.map(name => [name, arrayOrEmpty(paths[name]).map(path => ({ path, method: '' }))]),
  );
}

/**
 * Expands `method_actions` into one entry per method; a method with a reply is a mock as well. It stays in its list: an
 * allow list of replies alone still closes every other endpoint. In a block list the reply replaces the rejection.
 */
function splitByMethod(entry: JsonObject, list: string, mocks: JsonObject[]): JsonObject[] {
  const { method_actions, ...rest } = entry;
  if (isZeroValue(method_actions)) return [rest];
  return Object.entries(objectOrEmpty(method_actions)).flatMap(([method, action]) => {
    const { action: kind, code, data, headers } = objectOrEmpty(action);
    if (kind !== 'reply') return [{ ...rest, method }];
    mocks.push({ ...rest, method, code: code ?? 0, body: data ?? '', headers: headers ?? {} });
    return list === 'black_list' ? [] : [{ ...rest, method }];
  });
}

export function readClassicEndpoints(version: JsonObject): Endpoints {
  const lists = normalizeLists(version);
  return buildEndpoints(feature =>
    arrayOrEmpty(feature.classic === null ? [] : lists[feature.classic]).map(entry => {
      const values = readFacet(feature.entry, 'classic', entry, {});
      return { ...values, method: String(values.method).toUpperCase() };
    }),
  );
}

export function readOasEndpoints(extension: JsonObject, paths: unknown): Endpoints {
  const settings = objectOrEmpty(objectOrEmpty(extension.middleware).operations);
  const operations = listOperations(paths).filter(({ id }) => isObject(settings[id]));
  return buildEndpoints(feature =>
    operations.flatMap(({ id, path, method }) => {
      const operation = objectOrEmpty(settings[id]);
      const member = findFeatureMember(feature, operation);
      if (!member) return [];
      const values = readFacet(feature.entry, 'oas', member, {});
      return [{ ...values, path: findOriginalPath(operation) ?? toClassicPath(path), method, operationId: id }];
    }),
  );
}

/** Settings of a feature in an operation. */
export function findFeatureMember(
  feature: Pick<Feature, 'oas' | 'oasList'>,
  operation: JsonObject,
): JsonObject | undefined {
  const member = feature.oas === null ? undefined : operation[feature.oas];
  const one = feature.oasList ? arrayOrEmpty(member)[0] : member;
  return isObject(one) ? one : undefined;
}

/** Original classic path, where OpenAPI could not express it. */
export function findOriginalPath(operation: JsonObject): string | undefined {
  const { path } = objectOrEmpty(operation['x-gw-classic']);
  return typeof path === 'string' ? path : undefined;
}

function buildEndpoints(entries: (feature: Feature) => JsonObject[]): Endpoints {
  const lists = Object.entries(features).map(([name, feature]) => [
    name,
    entries(feature as Feature).filter(entry => entry.enabled !== false || name === 'scopeCheck'),
  ]);
  return Object.fromEntries(lists) as Endpoints;
}
