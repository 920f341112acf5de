import type { ApiStatus, ThreadStatus, UnavailableApi } from '#apis/api/data-plane.ts';
import type { EventHandler } from '#definition/facets/event-handlers.ts';
import { eventNames } from '#events/payload.ts';
import type { ReservedHosts } from '#people/organisations/reserved-hosts.ts';
import type { Api } from './api.ts';
import { isOlder, routesOverlap } from './route-index.ts';
import type { Snapshot } from './snapshot.ts';

export function describeApiStatus(
  { apis, reservedHosts, router, hasTenants }: Pick<Snapshot, 'apis' | 'reservedHosts' | 'router' | 'hasTenants'>,
  apiId: string,
): ApiStatus {
  const api = apis.get(apiId);
  const reason = findUnavailableReason(api);
  const warnings = [
    ...(api?.model.events.handlers.flatMap(listHandlerWarnings) ?? []),
    ...(hasTenants && api?.isRouted
      ? listOverlapWarnings(api, [...apis.values()], reservedHosts, router.isPrefix)
      : []),
  ];
  return { served: reason === '', reason, ...(warnings.length > 0 && { warnings }) };
}

/** APIs that a thread status lists. */
const maxUnavailableListed = 1000;

/** Status of a thread: its revision, and the APIs that it does not serve. */
export function describeThreadStatus({ revision, apis }: Pick<Snapshot, 'revision' | 'apis'>): ThreadStatus {
  const unavailable: { apiId: string; name: string; reason: string }[] = [];
  let notServed = 0;
  for (const [apiId, api] of apis) {
    const reason = findUnavailableReason(api);
    if (reason === '') continue;
    notServed += 1;
    if (unavailable.length < maxUnavailableListed) unavailable.push({ apiId, name: api.model.identity.name, reason });
  }
  return { revision, apis: apis.size, notServed, unavailable };
}

/** APIs of one organisation that a request lists. */
const maxUnavailableOfOrganisation = 100;

/** Active APIs of an organisation that could not be built. Those of other segments have a route elsewhere. */
export function listUnavailableApis({ apis }: Pick<Snapshot, 'apis'>, orgId: string): UnavailableApi[] {
  const found: UnavailableApi[] = [];
  for (const { id: apiId, orgId: owner, unavailableReason: reason, model } of apis.values()) {
    if (reason === '' || owner !== orgId || !model.identity.active) continue;
    found.push({ apiId, reason });
    if (found.length === maxUnavailableOfOrganisation) break;
  }
  return found;
}

function listHandlerWarnings({ enabled, trigger, type, functionName, name }: EventHandler): string[] {
  if (!enabled) return [];
  if (!(eventNames as readonly string[]).includes(trigger)) return [`the event ${trigger} does not exist`];
  if (type === 'webhook' || type === 'log' || type === 'custom') return [];
  return [
    `the event handler ${functionName || name} of ${trigger} does not run: handlers of type ${type} are not supported`,
  ];
}

function findUnavailableReason(api: ReturnType<Snapshot['apis']['get']>): string {
  if (!api) return 'the gateway could not load the API; the log has the reason';
  const { active, internal } = api.model.identity;
  if (!active) return 'the API is inactive';
  if (api.unavailableReason) return api.unavailableReason;
  if (internal || api.isRouted || api.tcpService) return '';
  return api.model.listen.path.trim() === '' ? 'the API has no listen path' : 'the API has no route on this gateway';
}

/** Route overlap between organisations, stored before it was rejected. The other organisation is not named. */
function listOverlapWarnings(api: Api, apis: readonly Api[], reservedHosts: ReservedHosts, prefix: boolean): string[] {
  const others = apis.filter(
    other => other.isRouted && other.orgId !== api.orgId && routesOverlap(reservedHosts, api, other, prefix),
  );
  const older = others.some(other => isOlder(other, api));
  const newer = others.some(other => isOlder(api, other));
  return [
    ...(older ? ['the route overlaps an older route of another organisation, which takes precedence'] : []),
    ...(newer ? ['the route overlaps a newer route of another organisation; this one takes precedence'] : []),
  ];
}
