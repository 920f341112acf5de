import type { ReservedHosts } from '#people/organisations/reserved-hosts.ts';
import type { Api } from './api.ts';
import { isOlder } from './route-index.ts';
import type { RouteGuard, Router } from './router.ts';

/** Whether routes of an organisation that name no host, or a pattern, reach a host. */
export const canUseHost = (held: ReservedHosts, orgId: string, host: string): boolean =>
  held.ownersOf(host)?.has(orgId) ?? true;

/**
 * Tenant isolation in the router: routes without a host of their own do not reach hosts that others hold, and of two
 * routes that fit a request the older organisation's answers. Undefined where neither can happen.
 */
export function createRouteGuard(contested: ReadonlySet<string>, held: ReservedHosts): RouteGuard<Api> | undefined {
  if (contested.size === 0 && held.size === 0) return undefined;
  const hasOlder = (api: Api, router: Router<Api>, host: string, path: string): boolean => {
    for (const { value, isNamed } of router.matches(host, path))
      if (value.orgId !== api.orgId && isOlder(value, api) && (isNamed || canUseHost(held, value.orgId, host)))
        return true;
    return false;
  };
  return {
    allows: (api, router, host, path, isNamed) =>
      (isNamed || canUseHost(held, api.orgId, host)) && !(contested.has(api.id) && hasOlder(api, router, host, path)),
  };
}
