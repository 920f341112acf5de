import { loopName, shortLoopName } from '#definition/loop-name.ts';
import { noReservedHosts, type ReservedHosts } from '#people/organisations/reserved-hosts.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Api } from './api.ts';
import { createRouteGuard, reachesHost } from './route-guard.ts';
import { byAge, RouteIndex } from './route-index.ts';
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
const shortLoopKey = (orgId: string, name: string): string => `${orgId}//${shortLoopName(name)}`;

export function emptySnapshot(rules: RouterRules): Snapshot {
  return snapshotOf(0, { router: new Router<Api>(rules), ports: new Map() }, new Map(), emptyBooks);
}

/** An API by its id as the first segment of a path. Only for paths no API has as its own, so that none is taken away. */
export function findApiById({ apis, held }: Snapshot, { host, path, peer }: Exchange): RouteMatch<Api> | undefined {
  const end = path.indexOf('/', 1);
  const id = path.slice(1, end < 0 ? undefined : end);
  const value = apis.get(id);
  if (!value?.isRouted || value.port !== (peer.port ?? 0) || (value.host !== '' && value.host !== host))
    return undefined;
  if (value.host === '' && !reachesHost(held, value.orgId, host)) return undefined;
  return { value, listenPath: `/${id}`, parameters: undefined };
}

/** What the next snapshot is built from, beside the snapshot itself. */
interface Books {
  /** Ids of those that have a name, in their order: of several the first is meant, on every thread alike. */
  readonly names: ReadonlyMap<string, readonly string[]>;
  /** Routed APIs by their place in the routers: there is room for one each. */
  readonly places: ReadonlyMap<string, readonly Api[]>;
  /** Absent while all routes are of one organisation. */
  readonly index: RouteIndex | undefined;
  readonly held: ReservedHosts;
}
const emptyBooks: Books = { names: new Map(), places: new Map(), index: undefined, held: noReservedHosts };
const booksOf = new WeakMap<Snapshot, Books>();

type Routers = Pick<Snapshot, 'router' | 'ports'>;

function snapshotOf(revision: number, routers: Routers, apis: ReadonlyMap<string, Api>, books: Books): Snapshot {
  const { names, index, held } = books;
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
        names.get(shortLoopKey(orgId, name)) ??
        [];
      return ids.map(id => onlyIfActive(apis.get(id))).find(api => api !== undefined);
    },
  };
  booksOf.set(snapshot, books);
  return snapshot;
}

const noneContested: ReadonlySet<string> = new Set();

/** What is switched off is switched off for calls from inside as well. */
export const onlyIfActive = (api: Api | undefined): Api | undefined => (api?.model.identity.active ? api : undefined);

/** A database id could be the name of another API. */
const namesOf = ({ orgId, databaseId, name }: Api) =>
  new Set([`${orgId}/${databaseId}`, `${orgId}/${loopName(name)}`, shortLoopKey(orgId, name)]);

/** The next snapshot: `changed` replaces or adds, `removed` takes away. Untouched APIs stay the very same objects. */
export function nextSnapshot(
  last: Snapshot,
  revision: number,
  changed: readonly Api[],
  removed: readonly string[],
  held: ReservedHosts = last.held,
): Snapshot {
  const books = booksOf.get(last)!;
  const known = held === last.held ? books.index : undefined;
  if (changed.length + removed.length === 0) {
    const index = known ?? buildIndex(last.apis, last.router, held);
    return snapshotOf(revision, routersOf(last), last.apis, { ...books, index, held });
  }
  const apis = new Map(last.apis);
  const names = new Map(books.names);
  const gone = [...removed, ...changed.map(({ id }) => id)].flatMap(id => apis.get(id) ?? []);
  for (const old of gone) {
    for (const name of namesOf(old)) {
      const others = (names.get(name) ?? []).filter(other => other !== old.id);
      if (others.length > 0) names.set(name, others);
      else names.delete(name);
    }
    apis.delete(old.id);
  }
  for (const api of changed) {
    apis.set(api.id, api);
    for (const name of namesOf(api)) names.set(name, [...(names.get(name) ?? []), api.id].sort());
  }
  const { places, routes } = changedPlaces(books.places, gone, changed);
  if (known) {
    for (const api of gone.filter(isRouted)) known.remove(api);
    known.add(changed.filter(isRouted));
  }
  const index = known ?? buildIndex(apis, last.router, held);
  return snapshotOf(revision, changedRouters(last, routes), apis, { names, places, index, held });
}

const isRouted = ({ isRouted: routed }: Api) => routed;
const placeOf = ({ port, host, listenPath }: Api) => `${port} ${host} ${listenPath}`;

/** Of several in one place the organisation that was there first answers, with its newest. */
function winnerOf(apis: readonly Api[]): Api | undefined {
  const [first, ...others] = [...apis].sort(byAge);
  return others.findLast(({ orgId }) => orgId === first?.orgId) ?? first;
}

function changedPlaces(last: Books['places'], gone: readonly Api[], changed: readonly Api[]) {
  const places = new Map(last);
  const touched = new Map<string, Api>();
  for (const old of gone.filter(isRouted)) {
    const place = placeOf(old);
    touched.set(place, old);
    const left = (places.get(place) ?? []).filter(({ id }) => id !== old.id);
    if (left.length > 0) places.set(place, left);
    else places.delete(place);
  }
  for (const api of changed.filter(isRouted)) {
    const place = placeOf(api);
    touched.set(place, api);
    places.set(place, [...(places.get(place) ?? []), api]);
  }
  const routes = [...touched].map(([place, { port, host, listenPath }]): PortChange => {
    return { port, host, listenPath, value: winnerOf(places.get(place) ?? []) };
  });
  return { places, routes };
}

/** Built once there are routes of two organisations; from then on it follows the changes. */
function buildIndex(apis: ReadonlyMap<string, Api>, router: Router<Api>, held: ReservedHosts): RouteIndex | undefined {
  const routed = [...apis.values()].filter(isRouted);
  if (routed.every(({ orgId }) => orgId === routed[0]!.orgId)) return undefined;
  const index = new RouteIndex(held, router.isPrefix);
  index.add(routed);
  return index;
}

type PortChange = RouteChange<Api> & { readonly port: number };

const routersOf = ({ router, ports }: Snapshot): Routers => ({ router, ports });

/** Most gateways have one port, and most changes are to it. */
function changedRouters(last: Snapshot, routes: readonly PortChange[]): Routers {
  const router = last.router.changed(routes.filter(({ port }) => port === 0));
  const others = new Set(routes.map(({ port }) => port).filter(port => port !== 0));
  if (others.size === 0) return { router, ports: last.ports };
  const ports = new Map(last.ports);
  for (const port of others) {
    const changed = (ports.get(port) ?? last.router.empty()).changed(routes.filter(it => it.port === port));
    if (changed.isEmpty) ports.delete(port);
    else ports.set(port, changed);
  }
  return { router, ports };
}
