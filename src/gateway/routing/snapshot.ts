import type { ConfigChange } from '#apis/config-reader.ts';
import { ShardedMap } from '#base/sharded-map.ts';
import { loopName, shortLoopName } from '#definition/loop-name.ts';
import { noReservedHosts, type ReservedHosts } from '#people/organisations/reserved-hosts.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Api } from './api.ts';
import { type ApiIndex, listSources, toChangeKey, updateIndex } from './api-index.ts';
import { type ApiSubsets, noSubsets, updateSubsets } from './api-subsets.ts';
import { canUseHost, createRouteGuard } from './route-guard.ts';
import { compareAge, RouteOverlapIndex } from './route-index.ts';
import { type RouteChange, type RouteGuard, type RouteMatch, Router, type RouterRules } from './router.ts';

/** Immutable configuration of one revision. The next is built beside it and swapped in. */
export interface Snapshot {
  readonly revision: number;
  readonly router: Router<Api>;
  /** Routers of APIs with their own listen port. */
  readonly ports: ReadonlyMap<number, Router<Api>>;
  readonly apis: ReadonlyMap<string, Api>;
  readonly subsets: ApiSubsets;
  /** Tenant isolation in the routers; undefined where no routes overlap and no host is reserved. */
  readonly guard: RouteGuard<Api> | undefined;
  readonly reservedHosts: ReservedHosts;
  /** APIs of more than one organisation are served. */
  readonly hasTenants: boolean;
  /** By id, database id, or name as loops write it; within one organisation. */
  findByName(orgId: string, name: string): Api | undefined;
}

/** The short name, where no exact one is meant. */
const toShortLoopKey = (orgId: string, name: string): string => `${orgId}//${shortLoopName(name)}`;

export function createEmptySnapshot(rules: RouterRules): Snapshot {
  return createSnapshot(0, { router: new Router<Api>(rules), ports: new Map() }, emptyIndexes);
}

/** API by id in the first path segment; tried only after the router, so that listen paths win. */
export function findApiById(
  { apis, reservedHosts }: Snapshot,
  { host, path, peer }: Exchange,
): RouteMatch<Api> | undefined {
  const end = path.indexOf('/', 1);
  const id = path.slice(1, end < 0 ? undefined : end);
  const value = apis.get(id);
  if (!value?.isRouted || value.port !== (peer.port ?? 0) || (value.host !== '' && value.host !== host))
    return undefined;
  if (value.host === '' && !canUseHost(reservedHosts, value.orgId, host)) return undefined;
  return { value, listenPath: `/${id}`, parameters: undefined };
}

/** Indexes of a snapshot that only building the next one needs. */
interface SnapshotIndexes {
  readonly apis: ShardedMap<Api>;
  readonly subsets: ApiSubsets;
  /** By lookup name. */
  readonly names: ApiIndex;
  /** By the objects in the database that they are compiled from. */
  readonly sources: ApiIndex;
  /** Routed APIs by route key; a router holds one value for each key. */
  readonly apisByRoute: ShardedMap<readonly Api[]>;
  /** Organisation of all routes; undefined without routes, and where several organisations have some. */
  readonly onlyOrgId: string | undefined;
  /** Absent while all routes are of one organisation. */
  readonly overlapIndex: RouteOverlapIndex | undefined;
  readonly reservedHosts: ReservedHosts;
}
const emptyIndexes: SnapshotIndexes = {
  apis: new ShardedMap(),
  subsets: noSubsets,
  names: new ShardedMap(),
  sources: new ShardedMap(),
  apisByRoute: new ShardedMap(),
  onlyOrgId: undefined,
  overlapIndex: undefined,
  reservedHosts: noReservedHosts,
};
const indexesBySnapshot = new WeakMap<Snapshot, SnapshotIndexes>();

type Routers = Pick<Snapshot, 'router' | 'ports'>;

function createSnapshot(revision: number, routers: Routers, indexes: SnapshotIndexes): Snapshot {
  const { apis, subsets, names, overlapIndex, reservedHosts } = indexes;
  const snapshot: Snapshot = {
    revision,
    ...routers,
    apis,
    subsets,
    reservedHosts,
    hasTenants: overlapIndex !== undefined,
    guard: createRouteGuard(overlapIndex?.contested ?? noneContested, reservedHosts),
    findByName(orgId, name) {
      const direct = apis.get(name);
      if (direct?.orgId === orgId) return onlyIfActive(direct);
      const ids =
        names.get(`${orgId}/${name}`) ??
        names.get(`${orgId}/${loopName(name)}`) ??
        names.get(toShortLoopKey(orgId, name)) ??
        [];
      return ids.map(id => onlyIfActive(apis.get(id))).find(api => api !== undefined);
    },
  };
  indexesBySnapshot.set(snapshot, indexes);
  return snapshot;
}

/** Served APIs that are compiled from this object in the database. */
export const findApisFrom = (snapshot: Snapshot, object: ConfigChange): Api[] =>
  (indexesBySnapshot.get(snapshot)!.sources.get(toChangeKey(object)) ?? []).map(id => snapshot.apis.get(id)!);

const noneContested: ReadonlySet<string> = new Set();

/** Inactive APIs do not answer loops and version hops either. */
export const onlyIfActive = (api: Api | undefined): Api | undefined => (api?.model.identity.active ? api : undefined);

/** Lookup names of loops. A set, since a database id could equal the API's name. */
const listLookupNames = ({ orgId, databaseId, name }: Api) =>
  new Set([`${orgId}/${databaseId}`, `${orgId}/${loopName(name)}`, toShortLoopKey(orgId, name)]);

/** Builds the next snapshot: `changed` replaces or adds, `removed` deletes. Unchanged APIs stay the same objects. */
export function buildNextSnapshot(
  previous: Snapshot,
  revision: number,
  changed: readonly Api[],
  removed: readonly string[],
  reservedHosts: ReservedHosts = previous.reservedHosts,
): Snapshot {
  const indexes = indexesBySnapshot.get(previous)!;
  const currentIndex = reservedHosts === previous.reservedHosts ? indexes.overlapIndex : undefined;
  const next = changed.length + removed.length === 0 ? undefined : updateApis(indexes, changed, removed);
  if (next && currentIndex) {
    for (const api of next.replaced.filter(isRouted)) currentIndex.remove(api);
    currentIndex.add(changed.filter(isRouted));
  }
  const { apis, subsets, names, sources } = next ?? indexes;
  const { apisByRoute, routes } = next
    ? updateRoutes(indexes.apisByRoute, next.replaced, changed)
    : { apisByRoute: indexes.apisByRoute, routes: [] };
  const onlyOrgId = findOnlyOrganisation(indexes, changed);
  const overlapIndex =
    currentIndex ?? (onlyOrgId === undefined ? buildOverlapIndex(apis, previous.router, reservedHosts) : undefined);
  const routers = routes.length > 0 ? updateRouters(previous, routes) : pickRouters(previous);
  return createSnapshot(revision, routers, {
    apis,
    subsets,
    names,
    sources,
    apisByRoute,
    onlyOrgId,
    overlapIndex,
    reservedHosts,
  });
}

function updateApis(indexes: SnapshotIndexes, changed: readonly Api[], removed: readonly string[]) {
  const apis = indexes.apis.copy();
  const replaced = [...new Set([...removed, ...changed.map(({ id }) => id)])].flatMap(id => apis.get(id) ?? []);
  for (const { id } of replaced) apis.delete(id);
  for (const api of changed) apis.set(api.id, api);
  return {
    apis,
    subsets: updateSubsets(indexes.subsets, replaced, changed),
    names: updateIndex(indexes.names, listLookupNames, replaced, changed),
    sources: updateIndex(indexes.sources, listSources, replaced, changed),
    replaced,
  };
}

/** Removed routes need no look: the organisation of the others stays the only one. */
function findOnlyOrganisation(
  { onlyOrgId, apisByRoute }: SnapshotIndexes,
  changed: readonly Api[],
): string | undefined {
  const orgIds = new Set(changed.filter(isRouted).map(({ orgId }) => orgId));
  if (apisByRoute.size > 0) {
    if (onlyOrgId === undefined) return undefined;
    orgIds.add(onlyOrgId);
  }
  return orgIds.size === 1 ? [...orgIds][0] : undefined;
}

const isRouted = ({ isRouted: routed }: Api) => routed;
const toRouteKey = ({ port, host, listenPath }: Api) => `${port} ${host} ${listenPath}`;

/** Of several APIs with one route key: the newest API of the organisation with the oldest one. */
function selectRouteOwner(apis: readonly Api[]): Api | undefined {
  const [first, ...others] = [...apis].sort(compareAge);
  return others.findLast(({ orgId }) => orgId === first?.orgId) ?? first;
}

function updateRoutes(previous: SnapshotIndexes['apisByRoute'], replaced: readonly Api[], changed: readonly Api[]) {
  const apisByRoute = previous.copy();
  const touched = new Map<string, Api>();
  for (const old of replaced.filter(isRouted)) {
    const place = toRouteKey(old);
    touched.set(place, old);
    const left = (apisByRoute.get(place) ?? []).filter(({ id }) => id !== old.id);
    if (left.length > 0) apisByRoute.set(place, left);
    else apisByRoute.delete(place);
  }
  for (const api of changed.filter(isRouted)) {
    const place = toRouteKey(api);
    touched.set(place, api);
    apisByRoute.set(place, [...(apisByRoute.get(place) ?? []), api]);
  }
  const routes = [...touched].map(([place, { port, host, listenPath }]): PortChange => {
    return { port, host, listenPath, value: selectRouteOwner(apisByRoute.get(place) ?? []) };
  });
  return { apisByRoute, routes };
}

/** Built once two organisations have routes; updated incrementally from then on. */
function buildOverlapIndex(
  apis: ReadonlyMap<string, Api>,
  router: Router<Api>,
  reservedHosts: ReservedHosts,
): RouteOverlapIndex | undefined {
  const routed = [...apis.values()].filter(isRouted);
  if (routed.every(({ orgId }) => orgId === routed[0]!.orgId)) return undefined;
  const overlapIndex = new RouteOverlapIndex(reservedHosts, router.isPrefix);
  overlapIndex.add(routed);
  return overlapIndex;
}

type PortChange = RouteChange<Api> & { readonly port: number };

const pickRouters = ({ router, ports }: Snapshot): Routers => ({ router, ports });

/** Updates the gateway's router, and those of API ports only where they changed. */
function updateRouters(previous: Snapshot, routes: readonly PortChange[]): Routers {
  const router = previous.router.withChanges(routes.filter(({ port }) => port === 0));
  const otherPorts = new Set(routes.map(({ port }) => port).filter(port => port !== 0));
  if (otherPorts.size === 0) return { router, ports: previous.ports };
  const ports = new Map(previous.ports);
  for (const port of otherPorts) {
    const updated = (ports.get(port) ?? previous.router.createEmpty()).withChanges(
      routes.filter(it => it.port === port),
    );
    if (updated.isEmpty) ports.delete(port);
    else ports.set(port, updated);
  }
  return { router, ports };
}
