import type { Settings } from '#base/settings.ts';
import type { StoredGrants } from '#people/organisations/grants.ts';
import {
  type Grants,
  type GrantsWrite,
  operatorGrants,
  readTenantDefaults,
  resolveGrants,
} from '#people/organisations/grants.ts';

import { createReservedHosts, noReservedHosts, type ReservedHosts } from '#people/organisations/reserved-hosts.ts';

/** Most restrictive grants: every organisation is a tenant with the defaults. */
export const noGrants: StoredGrants = { operatorOrgId: '', rows: [] };

/** Grants of organisations for a traffic thread: in memory, replaced as a whole before a snapshot is built. */
export interface TenantGrants {
  /** Tenant defaults for an organisation without grants of its own. */
  of(orgId: string): Grants;
  isOperator(orgId: string): boolean;
  /** Organisations with grants of their own. */
  organisations(): Iterable<string>;
  /** Hosts granted by name; a new object after each change. */
  heldHosts(): ReservedHosts;
  replace(stored: StoredGrants): void;
}

export function createTenantGrants(settings: Pick<Settings, 'tenants.grants'>): TenantGrants {
  const defaults = readTenantDefaults(settings);
  let operatorOrgId = '';
  let hosts = noReservedHosts;
  let granted: ReadonlyMap<string, Grants> = new Map();
  const isOperator = (orgId: string) => orgId !== '' && orgId === operatorOrgId;
  return {
    of: orgId => (isOperator(orgId) ? operatorGrants : (granted.get(orgId) ?? defaults)),
    isOperator,
    organisations: () => granted.keys(),
    heldHosts: () => hosts,
    replace(stored) {
      const written = stored.rows.map(({ org_id, body }) => [org_id, JSON.parse(body) as GrantsWrite] as const);
      hosts = createReservedHosts(written.map(([orgId, { domains = [] }]) => ({ orgId, domains })));
      operatorOrgId = stored.operatorOrgId;
      granted = new Map(written.map(([orgId, grants]) => [orgId, resolveGrants(grants, defaults)]));
    },
  };
}
