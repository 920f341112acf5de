import type { Api } from './api.ts';
import type { Exchange } from './exchange.ts';
import { type Found, type RouteChange, Router, type RouterRules } from './router.ts';

/** What traffic is answered from: one revision, which never changes. The next one is built beside it and takes its place. */
export interface Snapshot {
  readonly revision: number;
  readonly router: Router<Api>;
  /** For calls to a port that APIs have of their own. */
  readonly ports: ReadonlyMap<number, Router<Api>>;
  readonly apis: ReadonlyMap<string, Api>;
  /** By id, database id, or name as loops write it; within one organisation. */
  byName(orgId: string, name: string): Api | undefined;
}

/** As `gw://` addresses write it: lower-case, without categories, anything but letters and digits turned to `-`. */
export const loopName = (name: string): string =>
  name
    .replaceAll(/\s#\S+/g, '')
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '-');

/** The same name with each run of `-` as one: `Orders & Returns` is reached as `gw://orders-returns` too, by no exact name. */
const shortLoopKey = (orgId: string, name: string): string => `${orgId}//${loopName(name).replaceAll(/-+/g, '-')}`;

export function emptySnapshot(rules: RouterRules): Snapshot {
  return snapshotOf(0, { router: new Router<Api>(rules), ports: new Map() }, new Map(), new Map());
}

/** An API by its id as the first segment of a path. Only for paths no API has as its own, so that none is taken away. */
export function foundById({ apis }: Snapshot, { host, path, peer }: Exchange): Found<Api> | undefined {
  const end = path.indexOf('/', 1);
  const id = path.slice(1, end < 0 ? undefined : end);
  const value = apis.get(id);
  if (!value?.routed || value.port !== (peer.port ?? 0) || (value.host !== '' && value.host !== host)) return undefined;
  return { value, listenPath: `/${id}`, parameters: undefined };
}

/** Ids of those that have a name, in their order: of several the first is meant, on every thread alike. */
type Names = ReadonlyMap<string, readonly string[]>;
const names = new WeakMap<Snapshot, Names>();

type Routers = Pick<Snapshot, 'router' | 'ports'>;

function snapshotOf(revision: number, routers: Routers, apis: ReadonlyMap<string, Api>, byName: Names): Snapshot {
  const snapshot: Snapshot = {
    revision,
    ...routers,
    apis,
    byName(orgId, name) {
      const direct = apis.get(name);
      if (direct?.orgId === orgId) return inService(direct);
      const ids =
        byName.get(`${orgId}/${name}`) ??
        byName.get(`${orgId}/${loopName(name)}`) ??
        byName.get(shortLoopKey(orgId, name)) ??
        [];
      return ids.map(id => inService(apis.get(id))).find(api => api !== undefined);
    },
  };
  names.set(snapshot, byName);
  return snapshot;
}

/** What is switched off is switched off for calls from inside as well. */
export const inService = (api: Api | undefined): Api | undefined => (api?.model.identity.active ? api : undefined);

/** A database id could be the name of another API. */
const namesOf = ({ orgId, databaseId, name }: Api) =>
  new Set([`${orgId}/${databaseId}`, `${orgId}/${loopName(name)}`, shortLoopKey(orgId, name)]);

/** The next snapshot: `changed` replaces or adds, `removed` takes away. Untouched APIs stay the very same objects. */
export function nextSnapshot(
  last: Snapshot,
  revision: number,
  changed: readonly Api[],
  removed: readonly string[],
): Snapshot {
  if (changed.length + removed.length === 0) return snapshotOf(revision, routersOf(last), last.apis, names.get(last)!);
  const apis = new Map(last.apis);
  const byName = new Map(names.get(last));
  const routes: PortChange[] = [];
  const forget = (id: string) => {
    const old = apis.get(id);
    if (!old) return;
    if (old.routed) routes.push({ port: old.port, host: old.host, listenPath: old.listenPath, value: undefined });
    for (const name of namesOf(old)) {
      const others = (byName.get(name) ?? []).filter(other => other !== id);
      if (others.length > 0) byName.set(name, others);
      else byName.delete(name);
    }
    apis.delete(id);
  };
  for (const id of removed) forget(id);
  for (const api of changed) forget(api.id);
  for (const api of changed) {
    apis.set(api.id, api);
    for (const name of namesOf(api)) byName.set(name, [...(byName.get(name) ?? []), api.id].sort());
    if (api.routed) routes.push({ port: api.port, host: api.host, listenPath: api.listenPath, value: api });
  }
  return snapshotOf(revision, changedRouters(last, routes), apis, byName);
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
