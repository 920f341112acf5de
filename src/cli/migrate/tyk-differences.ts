import { arrayOrEmpty, getAt, isObject, isZeroValue, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';

/** Differences in meaning between the other product and this one, found in a definition. */

interface Difference {
  readonly text: string;
  matches(definition: JsonObject): boolean;
}

const extensionName = 'x-gw-api-gateway';
const readExtension = (definition: JsonObject) => objectOrEmpty(definition[extensionName]);

const listVersions = (definition: JsonObject): JsonObject[] =>
  Object.values(objectOrEmpty(getAt(definition, ['version_data', 'versions']))).map(objectOrEmpty);
const listPathLists = (definition: JsonObject): [string, unknown[]][] =>
  listVersions(definition).flatMap(version =>
    Object.entries(objectOrEmpty(version.extended_paths)).map(([name, list]): [string, unknown[]] => [
      name,
      arrayOrEmpty(list),
    ]),
  );
const listOperations = (definition: JsonObject) =>
  Object.values(objectOrEmpty(getAt(readExtension(definition), ['middleware', 'operations']))).map(objectOrEmpty);

const hasList = (definition: JsonObject, pattern: RegExp) =>
  listPathLists(definition).some(([name, list]) => pattern.test(name) && list.length > 0);
const hasOperation = (definition: JsonObject, pattern: RegExp) =>
  listOperations(definition).some(operation => Object.keys(operation).some(name => pattern.test(name)));

const isMocked = (definition: JsonObject) =>
  listPathLists(definition).some(([name, list]) =>
    /^(white_list|black_list|ignored)$/.test(name)
      ? list.some(entry => Object.values(objectOrEmpty(objectOrEmpty(entry).method_actions)).some(isReply))
      : false,
  );
const isReply = (action: unknown) => isObject(action) && action.action === 'reply';

const differences: readonly Difference[] = [
  {
    text: 'patterns of endpoints match whole paths: gateway.endpoint_match: loose keeps the earlier rule',
    matches: it => listPathLists(it).some(([, list]) => list.length > 0) || listOperations(it).length > 0,
  },
  {
    text: 'the listen path matches whole segments: gateway.listen_path_match: prefix keeps the earlier rule',
    matches: it => {
      const path = getAt(it, ['proxy', 'listen_path']) ?? getAt(readExtension(it), ['server', 'listenPath', 'value']);
      return typeof path === 'string' && path !== '' && !path.endsWith('/');
    },
  },
  {
    text: 'mock responses need a key: gateway.classic_mocks_first: true keeps the earlier rule',
    matches: isMocked,
  },
  {
    text: 'a body that cannot be transformed is rejected: transforms.on_failure: pass keeps the earlier rule',
    matches: it =>
      hasList(it, /^transform(_response)?$|^transform_jq/) || hasOperation(it, /^transform(Request|Response)Body$/),
  },
  {
    text: 'upstreams control the cache with the headers x-gw-cache-action-set and x-gw-cache-action-set-ttl',
    matches: it =>
      getAt(it, ['cache_options', 'enable_upstream_cache_control']) === true ||
      getAt(readExtension(it), ['middleware', 'global', 'cache', 'enableUpstreamCacheControl']) === true,
  },
  {
    text: 'claims of time in tokens are always checked',
    matches: it =>
      [
        'jwt_disable_expires_at_validation',
        'jwt_disable_issued_at_validation',
        'jwt_disable_not_before_validation',
      ].some(name => it[name] === true),
  },
  {
    text: 'options_passthrough counts only where CORS is enabled',
    matches: it => getAt(it, ['CORS', 'options_passthrough']) === true && getAt(it, ['CORS', 'enable']) !== true,
  },
  {
    text: 'webhooks of a stored hook have another id here: create it with POST /api/hooks and set its id',
    matches: it =>
      arrayOrEmpty(getAt(readExtension(it), ['server', 'eventHandlers'])).some(
        handler =>
          isObject(handler) && handler.type === 'webhook' && !isZeroValue(handler.id) && isZeroValue(handler.url),
      ),
  },
];

export const findDifferences = (definition: JsonObject): string[] =>
  differences.filter(({ matches }) => matches(definition)).map(({ text }) => text);
