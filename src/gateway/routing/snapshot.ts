import { loopName, shortLoopName } from '#definition/loop-name.ts';
import { noReservedHosts, type ReservedHosts } from '#people/organisations/reserved-hosts.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Api } from './api.ts';
import { canUseHost, createRouteGuard } from './route-guard.ts';
import { compareAge, RouteOverlapIndex } from './route-index.ts';
import { type RouteChange, type RouteGuard, type RouteMatch, Router, type RouterRules } from './router.ts';

/** What traffic is answered from: one revision, which never changes. The next one is built beside it and takes its place. */
export interface Snapshot {
  readonly revision: number;
  readonly router: Router<Api>;
  /** For calls to a port that APIs have of their own. */
  readonly ports: ReadonlyMap<number, Router<Api>>;
  readonly apis: ReadonlyMap<string, Api>;
  /** Keeps organisations apart in the routers; undefined where nothing overlaps and no host is held. */
  readonly guard: RouteGuard<Api> | undefined;
  readonly held: ReservedHosts;
  /** Whether APIs of more than one organisation are served. */
  readonly hasTenants: boolean;
  /** By id, database id, or name as loops write it; within one organisation. */
  findByName(orgId: string, name: string): Api | undefined;
}

/** The short name, where no exact one is meant. */
const toShortLoopKey = (orgId: string, name: string): string => `${orgId}//${shortLoopName(name)}`;

export function createEmptySnapshot(rules: RouterRules): Snapshot {
  return createSnapshot(0, { router: new Router<Api>(rules), ports: new Map() }, new Map(), emptyIndexes);
}

/** An API by its id as the first segment of a path. Only for paths no API has as its own, so that none is taken away. */
export function findApiById({ apis, held }: Snapshot, { host, path, peer }: Exchange): RouteMatch<Api> | undefined {
  const end = path.indexOf('/', 1);
  const id = path.slice(1, end < 0 ? undefined : end);
  const value = apis.get(id);
  if (!value?.isRouted || value.port !== (peer.port ?? 0) || (value.host !== '' && value.host !== host))
    return undefined;
  if (value.host === '' && !canUseHost(held, value.orgId, host)) return undefined;
  return { value, listenPath: `/${id}`, parameters: undefined };
}

/** What the next snapshot is built from, beside the snapshot itself. */
interface SnapshotIndexes {
  /** Ids of those that have a name, in their order: of several the first is meant, on every thread alike. */
  readonly names: ReadonlyMap<string, readonly string[]>;
  /** Routed APIs by their place in the routers: there is room for one each. */
  readonly apisByRoute: ReadonlyMap<string, readonly Api[]>;
  /** Absent while all routes are of one organisation. */
  readonly overlapIndex: RouteOverlapIndex | undefined;
  readonly held: ReservedHosts;
}
const emptyIndexes: SnapshotIndexes = {
  names: new Map(),
  apisByRoute: new Map(),
  overlapIndex: undefined,
  held: noReservedHosts,
};
const indexesBySnapshot = new WeakMap<Snapshot, SnapshotIndexes>();

type Routers = Pick<Snapshot, 'router' | 'ports'>;

function createSnapshot(
  revision: number,
  routers: Routers,
  apis: ReadonlyMap<string, Api>,
  books: SnapshotIndexes,
): Snapshot {
  const { names, overlapIndex: index, held } = books;
  const snapshot: Snapshot = {
    revision,
    ...routers,
    apis,
    held,
    hasTenants: index !== undefined,
    guard: createRouteGuard(index?.contested ?? noneContested, held),
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
  indexesBySnapshot.set(snapshot, books);
  return snapshot;
}

const noneContested: ReadonlySet<string> = new Set();

/** What is switched off is switched off for calls from inside as well. */
export const onlyIfActive = (api: Api | undefined): Api | undefined => (api?.model.identity.active ? api : undefined);

/** A database id could be the name of another API. */
const listLookupNames = ({ orgId, databaseId, name }: Api) =>
  new Set([`${orgId}/${databaseId}`, `${orgId}/${loopName(name)}`, toShortLoopKey(orgId, name)]);

/** The next snapshot: `changed` replaces or adds, `removed` takes away. Untouched APIs stay the very same objects. */
export function buildNextSnapshot(
  previous: Snapshot,
  revision: number,
  changed: readonly Api[],
  removed: readonly string[],
  held: ReservedHosts = previous.held,
): Snapshot {
  const indexes = indexesBySnapshot.get(previous)!;
  const currentIndex = held === previous.held ? indexes.overlapIndex : undefined;
  if (changed.length + removed.length === 0) {
    const index = currentIndex ?? buildOverlapIndex(previous.apis, previous.router, held);
    return createSnapshot(revision, pickRouters(previous), previous.apis, { ...indexes, overlapIndex: index, held });
  }
  const apis = new Map(previous.apis);
  const names = new Map(indexes.names);
  const replaced = [...removed, ...changed.map(({ id }) => id)].flatMap(id => apis.get(id) ?? []);
  for (const old of replaced) {
    for (const name of listLookupNames(old)) {
      const others = (names.get(name) ?? []).filter(other => other !== old.id);
      if (others.length > 0) names.set(name, others);
      else names.delete(name);
    }
    apis.delete(old.id);
  }
  for (const api of changed) {
    apis.set(api.id, api);
    for (const name of listLookupNames(api)) names.set(name, [...(names.get(name) ?? []), api.id].sort());
  }
  const { places, routes } = updateRoutes(indexes.apisByRoute, replaced, changed);
  if (currentIndex) {
    for (const api of replaced.filter(isRouted)) currentIndex.remove(api);
    currentIndex.add(changed.filter(isRouted));
  }
  const index = currentIndex ?? buildOverlapIndex(apis, previous.router, held);
  return createSnapshot(revision, updateRouters(previous, routes), apis, {
    names,
    apisByRoute: places,
    overlapIndex: index,
    held,
  });
}

const isRouted = ({ isRouted: routed }: Api) => routed;
const toRouteKey = ({ port, host, listenPath }: Api) => `${port} ${host} ${listenPath}`;

/** Of several in one place the organisation that was there first answers, with its newest. */
function selectRouteOwner(apis: readonly Api[]): Api | undefined {
  const [first, ...others] = [...apis].sort(compareAge);
  return others.findLast(({ orgId }) => orgId === first?.orgId) ?? first;
}

function updateRoutes(previous: SnapshotIndexes['apisByRoute'], replaced: readonly Api[], changed: readonly Api[]) {
  const apisByRoute = new Map(previous);
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
  return { places: apisByRoute, routes };
}

/** Built once there are routes of two organisations; from then on it follows the changes. */
function buildOverlapIndex(
  apis: ReadonlyMap<string, Api>,
  router: Router<Api>,
  held: ReservedHosts,
): RouteOverlapIndex | undefined {
  const routed = [...apis.values()].filter(isRouted);
  if (routed.every(({ orgId }) => orgId === routed[0]!.orgId)) return undefined;
  const index = new RouteOverlapIndex(held, router.isPrefix);
  index.add(routed);
  return index;
}

type PortChange = RouteChange<Api> & { readonly port: number };

const pickRouters = ({ router, ports }: Snapshot): Routers => ({ router, ports });

/** Most gateways have one port, and most changes are to it. */
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
