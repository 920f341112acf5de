import type { Settings } from '#base/settings.ts';
import {
  type Grants,
  type GrantsWrite,
  operatorGrants,
  readTenantDefaults,
  resolveGrants,
} from '#people/organisations/grants.ts';

import { createReservedHosts, noReservedHosts, type ReservedHosts } from '#people/organisations/held-hosts.ts';

export interface GrantRow {
  readonly org_id: string;
  readonly body: string;
}

/** Grants as they stand in the records. */
export interface StoredGrants {
  /** The organisation made at first start, which is the operator's own. */
  readonly operatorOrgId: string;
  readonly rows: readonly GrantRow[];
}

/** Every organisation is a tenant with the defaults: the least that can be said. */
export const noGrants: StoredGrants = { operatorOrgId: '', rows: [] };

/** What organisations may use, for a traffic thread: answered from memory, replaced as a whole before a snapshot is built. */
export interface TenantGrants {
  /** The defaults of tenants where nothing was said of the organisation. */
  of(orgId: string): Grants;
  isOperator(orgId: string): boolean;
  /** Organisations with grants of their own. */
  organisations(): Iterable<string>;
  /** Hosts that were granted by name; another object after each change. */
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
