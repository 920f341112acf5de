import { extraPortOf } from '#base/extra-ports.ts';
import { Problem } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import { isBelowListenPath, isLiteralHost, pathsOverlap, splitListenPath } from '#definition/route-overlap.ts';
import type { GrantStore } from '#people/organisations/grant-store.ts';
import { hasHostOverlap, isHostGranted, type ReservedHosts } from '#people/organisations/reserved-hosts.ts';
import type { HiddenApi } from '../owners/store.ts';
import { problem } from '../problems.ts';
import { anyConnectionPath } from './rules.ts';
import type { StoredApi } from './schema.ts';
import type { ApiStore, ClaimedRoute, RouteSearch } from './store.ts';

export interface RouteCheckServices {
  apis: ApiStore;
  grants: GrantStore;
  settings: Settings;
}

interface Route {
  readonly orgId: string;
  readonly host: string;
  /** Own listen port; 0 for the gateway's. */
  readonly port: number;
  readonly path: string;
  readonly segments: readonly string[];
}

/**
 * Parses the column, which holds host and port as one text. A port that is not allowed for APIs counts as the
 * gateway's, where TCP and TLS services are not served and claim nothing.
 */
function parseRoute({ org_id, domain, listen_path }: ClaimedRoute, settings: Settings): Route | undefined {
  const [suffix = '', digits = '0'] = /:(\d+)$/.exec(domain) ?? [];
  const port = extraPortOf(settings, Number(digits));
  if (port === 0 && listen_path === anyConnectionPath) return undefined;
  const host = domain.slice(0, domain.length - suffix.length);
  return { orgId: org_id, host, port, path: listen_path, segments: splitListenPath(listen_path) };
}

/**
 * Route isolation: rejects a route outside the grants of its organisation, and one that overlaps a route of another
 * organisation or of a hidden API. Runs inside the write, after `lockForWrite`, so that no other writer interferes.
 */
export async function ensureRouteAllowed(
  services: RouteCheckServices,
  { org_id, summary }: StoredApi,
  hidden: readonly HiddenApi[],
): Promise<void> {
  if (summary.listen_path === '') return;
  const route = parseRoute({ org_id, ...summary }, services.settings);
  if (!route) return;
  const held = await services.grants.readReservedHosts();
  await ensureRouteGranted(services, route, held);
  if (overlapsHidden(services, route, held, hidden) || (await overlapsOtherOrganisation(services, route, held)))
    throw problem.route_taken({ detail: { path: summary.listen_path, where: formatHost(route) } });
}

const formatHost = ({ host }: Route) => (host === '' ? '' : ` on ${host}`);

async function ensureRouteGranted({ grants }: RouteCheckServices, route: Route, held: ReservedHosts): Promise<void> {
  if (await grants.isOperator(route.orgId)) return;
  const { domains, paths } = await grants.find(route.orgId);
  if (route.host !== '' && !isHostGranted(held, { orgId: route.orgId, domains }, route.host))
    throw problem.domain_not_granted({ detail: { domain: route.host } });
  const isInside = (prefix: string) => splitListenPath(prefix).every((segment, at) => route.segments[at] === segment);
  if (paths.length > 0 && !paths.some(isInside)) throw problem.path_not_granted({ detail: { path: route.path } });
}

async function overlapsOtherOrganisation(
  { apis, settings }: RouteCheckServices,
  route: Route,
  held: ReservedHosts,
): Promise<boolean> {
  const search = buildRouteSearch(route, isPrefixMatch(settings), settings['gateway.api_id_paths']);
  const { routes, byId } = await apis.foreignRoutes(route.orgId, search);
  const overlaps = createOverlap(route, settings, held);
  return routes.some(overlaps.byPath) || byId.some(overlaps.byId);
}

function overlapsHidden(
  { settings }: RouteCheckServices,
  route: Route,
  held: ReservedHosts,
  hidden: readonly HiddenApi[],
): boolean {
  const overlaps = createOverlap(route, settings, held);
  const prefix = isPrefixMatch(settings);
  const atId = ({ api_id }: HiddenApi) =>
    settings['gateway.api_id_paths'] && pathsOverlap(route.segments, [api_id], prefix);
  return hidden
    .filter(({ listen_path }) => listen_path !== '')
    .some(api => overlaps.byPath(api) || (atId(api) && overlaps.byId(api)));
}

const isPrefixMatch = (settings: Settings) => settings['gateway.listen_path_match'] === 'prefix';

/** Overlap test: true where a request for `route` could match the path of another one, or the id of its API. */
function createOverlap(route: Route, settings: Settings, held: ReservedHosts) {
  const prefix = isPrefixMatch(settings);
  const meets = (other: Route) => other.port === route.port && hasHostOverlap(held, route, other);
  return {
    byPath(row: ClaimedRoute): boolean {
      const other = parseRoute(row, settings);
      if (!other) return false;
      // A port has one protocol, so an API that shares it would decide the protocol of the others.
      if (route.port !== 0) return other.port === route.port;
      return meets(other) && pathsOverlap(route.segments, other.segments, prefix);
    },
    byId(row: ClaimedRoute): boolean {
      const other = parseRoute(row, settings);
      return other !== undefined && meets(other);
    },
  };
}

/** A request for a path of the gateway. */
export interface RequestedRoute {
  readonly orgId: string;
  readonly host: string;
  /** Path of a URL. */
  readonly path: string;
}

/** True where a request could reach an API of another organisation, or a hidden one, and where that is undecidable. */
export async function canReachForeignApi(
  services: RouteCheckServices,
  requested: RequestedRoute,
  hidden: readonly HiddenApi[],
): Promise<boolean> {
  const route = toRoute(requested);
  const held = await services.grants.readReservedHosts();
  if (overlapsHidden(services, route, held, hidden)) return true;
  return overlapsOtherOrganisation(services, route, held).catch(decideByBound(true));
}

/** Result of a comparison with too many routes to decide it; other errors are thrown on. */
const decideByBound =
  <T>(result: T) =>
  (error: unknown): T => {
    if (error instanceof Problem && error.code === problem.too_many_routes.code) return result;
    throw error;
  };

/** True where the path of a request is at or below a route of its organisation, by listen path or id. */
export async function canReachOwnApi(services: RouteCheckServices, requested: RequestedRoute): Promise<boolean> {
  const { apis, settings } = services;
  const route = toRoute(requested);
  const prefix = isPrefixMatch(settings);
  // The first segment of the root path is none, and so is the id of an API.
  const canBeId = settings['gateway.api_id_paths'] && route.segments.length > 0;
  const search = buildRouteSearch(route, prefix, canBeId);
  const { routes, byId } = await apis.ownRoutes(route.orgId, search).catch(decideByBound({ routes: [], byId: [] }));
  const overlaps = createOverlap(route, settings, await services.grants.readReservedHosts());
  const isBelow = (row: ClaimedRoute) => isBelowListenPath(route.segments, splitListenPath(row.listen_path), prefix);
  return routes.some(row => overlaps.byPath(row) && isBelow(row)) || byId.some(overlaps.byId);
}

function toRoute({ orgId, host, path }: RequestedRoute): Route {
  const segments = splitListenPath(path);
  return { orgId, host, port: 0, path: `/${segments.join('/')}`, segments };
}

/** Candidate routes: prefixes, routes below, and templates whose parameters may match. */
function buildRouteSearch({ host, port, path }: Route, prefix: boolean, idPaths: boolean): RouteSearch {
  if (port !== 0) return { port };
  const domains = isLiteralHost(host) ? ['', host] : undefined;
  const open = path.indexOf('{');
  // The fixed segments before the first parameter; none for a route that begins with one, or is the root.
  const base = (open < 0 ? path : path.slice(0, path.lastIndexOf('/', open))).replace(/^\/$/, '');
  const ends = prefix
    ? Array.from({ length: base.length }, (_, at) => at + 1)
    : [...base.matchAll(/\/|$/g)].map(({ index }) => index);
  const above = new Set(['/', ...ends.map(end => base.slice(0, end)).filter(Boolean)]);
  return {
    domains,
    above: [...above],
    below: prefix && base !== '' ? { from: base, to: `${base}\u{10ffff}` } : { from: `${base}/`, to: `${base}0` },
    id: idPaths ? (base.split('/')[1] ?? '') : undefined,
  };
}
