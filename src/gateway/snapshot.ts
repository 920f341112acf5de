import type { Api } from './api.ts';
import { type Found, type RouteChange, Router, type RouterRules } from './router.ts';

/** What traffic is answered from: one revision, which never changes. The next one is built beside it and takes its place. */
export interface Snapshot {
  readonly revision: number;
  readonly router: Router<Api>;
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

export function emptySnapshot(rules: RouterRules): Snapshot {
  return snapshotOf(0, new Router<Api>(rules), new Map(), new Map());
}

/** An API by its id as the first segment of a path. Only for paths no API has as its own, so that none is taken away. */
export function foundById({ apis }: Snapshot, { host, path }: { host: string; path: string }): Found<Api> | undefined {
  const end = path.indexOf('/', 1);
  const id = path.slice(1, end < 0 ? undefined : end);
  const value = apis.get(id);
  if (!value?.routed || (value.host !== '' && value.host !== host)) return undefined;
  return { value, listenPath: `/${id}`, parameters: undefined };
}

/** Ids of those that have a name, in their order: of several the first is meant, on every thread alike. */
type Names = ReadonlyMap<string, readonly string[]>;
const names = new WeakMap<Snapshot, Names>();

function snapshotOf(revision: number, router: Router<Api>, apis: ReadonlyMap<string, Api>, byName: Names): Snapshot {
  const snapshot: Snapshot = {
    revision,
    router,
    apis,
    byName(orgId, name) {
      const direct = apis.get(name);
      if (direct?.orgId === orgId) return direct;
      const [id] = byName.get(`${orgId}/${name}`) ?? byName.get(`${orgId}/${loopName(name)}`) ?? [];
      return id === undefined ? undefined : apis.get(id);
    },
  };
  names.set(snapshot, byName);
  return snapshot;
}

/** A database id could be the name of another API. */
const namesOf = ({ orgId, databaseId, name }: Api) => new Set([`${orgId}/${databaseId}`, `${orgId}/${loopName(name)}`]);

/** The next snapshot: `changed` replaces or adds, `removed` takes away. Untouched APIs stay the very same objects. */
export function nextSnapshot(
  last: Snapshot,
  revision: number,
  changed: readonly Api[],
  removed: readonly string[],
): Snapshot {
  if (changed.length + removed.length === 0) return snapshotOf(revision, last.router, last.apis, names.get(last)!);
  const apis = new Map(last.apis);
  const byName = new Map(names.get(last));
  const routes: RouteChange<Api>[] = [];
  const forget = (id: string) => {
    const old = apis.get(id);
    if (!old) return;
    if (old.routed) routes.push({ host: old.host, listenPath: old.listenPath, value: undefined });
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
    if (api.routed) routes.push({ host: api.host, listenPath: api.listenPath, value: api });
  }
  return snapshotOf(revision, last.router.changed(routes), apis, byName);
}
