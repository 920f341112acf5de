import type { JsonObject } from '#base/json-tree.ts';
import { arrayOrEmpty, isObject, isZeroValue, objectOrEmpty } from '#base/json-tree.ts';
import { features } from '../definition.ts';
import type { Fields } from '../facet.ts';
import {
  isMcpExtension,
  methodPathPrefix,
  parseMethodKey,
  primitivePathPrefixes,
  primitiveTypes,
  readPrimitives,
} from '../mcp-names.ts';
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
  const isMcp = isMcpExtension(extension);
  const operations = listOperations(paths).flatMap(({ id, path, method }) => {
    const operation = settings[id];
    // A path such as /tools/call documents the JSON-RPC method: no client calls it.
    if (!isObject(operation) || (isMcp && path === `/${parseMethodKey(id)}`)) return [];
    return [{ operation, path: findOriginalPath(operation) ?? toClassicPath(path), method, operationId: id }];
  });
  const known = new Set(operations.map(({ operationId }) => operationId));
  const places = isMcp ? [...operations, ...listMethods(settings, known), ...listPrimitives(extension)] : operations;
  return buildEndpoints(feature =>
    places.flatMap(({ operation, ...place }) => {
      const member = findFeatureMember(feature, operation);
      return member ? [{ ...readFacet(feature.entry, 'oas', member, {}), ...place }] : [];
    }),
  );
}

/** JSON-RPC methods that `middleware.operations` of an MCP proxy configures, at their virtual paths. */
const listMethods = (settings: JsonObject, operationIds: ReadonlySet<string>) =>
  Object.entries(settings).flatMap(([key, operation]) => {
    const method = operationIds.has(key) ? undefined : parseMethodKey(key);
    if (method === undefined || !isObject(operation)) return [];
    return [{ operation, path: methodPathPrefix + method, method: 'POST', operationId: key }];
  });

/** Primitives of an MCP proxy, at their virtual paths. */
const listPrimitives = (extension: JsonObject) =>
  primitiveTypes.flatMap(type =>
    Object.entries(readPrimitives(extension, type)).flatMap(([name, operation]) => {
      const path = primitivePathPrefixes[type] + name;
      return isObject(operation) ? [{ operation, path, method: 'POST', operationId: path }] : [];
    }),
  );

/** Primitives of an MCP proxy beside their features. */
export interface McpModel {
  /** Virtual paths of all primitives that the definition names. */
  readonly paths: readonly string[];
  /** Security requirements of primitives, by virtual path. */
  readonly security: Readonly<Record<string, unknown>>;
}

export function readMcpModel(extension: JsonObject): McpModel {
  const primitives = listPrimitives(extension);
  const secured = primitives.filter(({ operation }) => (operation.security ?? undefined) !== undefined);
  return {
    paths: primitives.map(({ path }) => path),
    security: Object.fromEntries(secured.map(({ operation, path }) => [path, operation.security])),
  };
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
