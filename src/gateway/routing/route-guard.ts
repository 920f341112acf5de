import type { ReservedHosts } from '#people/organisations/reserved-hosts.ts';
import type { Api } from './api.ts';
import { isOlder } from './route-index.ts';
import type { RouteGuard, Router } from './router.ts';

/** Host reservation: whether an organisation's routes without a literal host may match this host. */
export const canUseHost = (reservedHosts: ReservedHosts, orgId: string, host: string): boolean =>
  reservedHosts.ownersOf(host)?.has(orgId) ?? true;

/**
 * Tenant isolation in the router: routes without a host of their own do not reach hosts that others hold, and of two
 * routes that fit a request the older organisation's answers. Undefined where neither can happen.
 */
export function createRouteGuard(
  contested: ReadonlySet<string>,
  reservedHosts: ReservedHosts,
): RouteGuard<Api> | undefined {
  if (contested.size === 0 && reservedHosts.size === 0) return undefined;
  const hasOlder = (api: Api, router: Router<Api>, host: string, path: string): boolean => {
    for (const { value, isNamed } of router.matches(host, path))
      if (value.orgId !== api.orgId && isOlder(value, api) && (isNamed || canUseHost(reservedHosts, value.orgId, host)))
        return true;
    return false;
  };
  return {
    allows: (api, router, host, path, isNamed) =>
      (isNamed || canUseHost(reservedHosts, api.orgId, host)) &&
      !(contested.has(api.id) && hasOlder(api, router, host, path)),
  };
}
