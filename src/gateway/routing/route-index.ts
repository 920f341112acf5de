import { pathsOverlap, segmentsOverlap, splitListenPath } from '#definition/route-overlap.ts';
import { hasHostOverlap, type ReservedHosts } from '#people/organisations/reserved-hosts.ts';
import type { Api } from './api.ts';

/** The fields of an API that overlap detection compares. */
export type RoutedApi = Pick<Api, 'id' | 'databaseId' | 'orgId' | 'host' | 'port' | 'listenPath' | 'createdAt'>;

/** Of two routes that overlap, the older one answers. */
export const isOlder = (one: RoutedApi, other: RoutedApi): boolean =>
  one.createdAt === other.createdAt ? one.databaseId < other.databaseId : one.createdAt < other.createdAt;

export const compareAge = (one: RoutedApi, other: RoutedApi): number => (isOlder(one, other) ? -1 : 1);

/** Route overlap: whether one request could match both routes, of two organisations. */
export const routesOverlap = (
  reservedHosts: ReservedHosts,
  one: RoutedApi,
  other: RoutedApi,
  prefix: boolean,
): boolean =>
  one.port === other.port &&
  hasHostOverlap(reservedHosts, one, other) &&
  pathsOverlap(splitListenPath(one.listenPath), splitListenPath(other.listenPath), prefix);

interface Node {
  readonly staticChildren: Map<string, Node>;
  readonly parameterChildren: Map<string, Node>;
  /** Routes that end here, and the number of routes at or below, by organisation. */
  readonly routes: Map<string, RoutedApi[]>;
  readonly counts: Map<string, number>;
}

const createNode = (): Node => ({
  staticChildren: new Map(),
  parameterChildren: new Map(),
  routes: new Map(),
  counts: new Map(),
});
const hasOtherOrganisation = ({ counts }: Node, orgId: string) => counts.size > (counts.has(orgId) ? 1 : 0);

/**
 * Trie of routes that finds those overlapping an older route of another organisation. They are `contested`: for each
 * request the route guard checks whether the older one matches too. Needed for installations that stored such routes
 * before overlap was rejected.
 */
export class RouteOverlapIndex {
  readonly contested = new Set<string>();
  readonly #reservedHosts: ReservedHosts;
  readonly #prefix: boolean;
  readonly #root = createNode();
  #newest: RoutedApi | undefined;

  constructor(reservedHosts: ReservedHosts, prefix: boolean) {
    this.#reservedHosts = reservedHosts;
    this.#prefix = prefix;
  }

  /** Oldest first, so that one older route found is enough. */
  add(apis: readonly RoutedApi[]): void {
    for (const api of [...apis].sort(compareAge)) {
      this.#compare(api);
      this.#insert(api);
      if (!this.#newest || isOlder(this.#newest, api)) this.#newest = api;
    }
  }

  remove(api: RoutedApi): void {
    this.contested.delete(api.id);
    removeRoute(this.#root, splitListenPath(api.listenPath), 0, api);
  }

  #insert(api: RoutedApi): void {
    let node = this.#root;
    incrementCount(node, api.orgId);
    for (const segment of splitListenPath(api.listenPath)) {
      const children = segment.includes('{') ? node.parameterChildren : node.staticChildren;
      const child = children.get(segment) ?? createNode();
      children.set(segment, child);
      node = child;
      incrementCount(node, api.orgId);
    }
    node.routes.set(api.orgId, [...(node.routes.get(api.orgId) ?? []), api]);
  }

  #compare(api: RoutedApi): void {
    const isNewest = !this.#newest || isOlder(this.#newest, api);
    for (const other of findOverlapping(this.#root, splitListenPath(api.listenPath), 0, api.orgId, this.#prefix)) {
      if (other.port !== api.port || !hasHostOverlap(this.#reservedHosts, api, other)) continue;
      this.contested.add(isOlder(other, api) ? api.id : other.id);
      if (isNewest) return;
    }
  }
}

const incrementCount = ({ counts }: Node, orgId: string) => counts.set(orgId, (counts.get(orgId) ?? 0) + 1);

function removeRoute(node: Node, segments: readonly string[], at: number, api: RoutedApi): boolean {
  const segment = segments[at];
  if (segment === undefined) {
    const listed = node.routes.get(api.orgId) ?? [];
    const left = listed.filter(({ id }) => id !== api.id);
    if (left.length === listed.length) return false;
    if (left.length > 0) node.routes.set(api.orgId, left);
    else node.routes.delete(api.orgId);
  } else {
    const children = segment.includes('{') ? node.parameterChildren : node.staticChildren;
    const child = children.get(segment);
    if (!child || !removeRoute(child, segments, at + 1, api)) return false;
    if (child.counts.size === 0) children.delete(segment);
  }
  const left = (node.counts.get(api.orgId) ?? 1) - 1;
  if (left > 0) node.counts.set(api.orgId, left);
  else node.counts.delete(api.orgId);
  return true;
}

/** Routes of other organisations above, at, below and across a path. Subtrees without any are skipped. */
function* findOverlapping(
  node: Node,
  segments: readonly string[],
  at: number,
  orgId: string,
  prefix: boolean,
): Generator<RoutedApi> {
  if (!hasOtherOrganisation(node, orgId)) return;
  for (const [owner, apis] of node.routes) if (owner !== orgId) yield* apis;
  const segment = segments[at];
  if (segment !== undefined && !segment.includes('{') && !prefix) {
    const child = node.staticChildren.get(segment);
    if (child) yield* findOverlapping(child, segments, at + 1, orgId, prefix);
  } else {
    for (const [name, child] of node.staticChildren)
      if (segment === undefined || prefix || segmentsOverlap(segment, name))
        yield* findOverlapping(child, segments, at + 1, orgId, prefix);
  }
  for (const [name, child] of node.parameterChildren)
    if (segment === undefined || segmentsOverlap(segment, name))
      yield* findOverlapping(child, segments, at + 1, orgId, prefix);
}
