import { hostsOverlap, isLiteralHost, literalHostSuffix } from '#definition/route-overlap.ts';

/**
 * Hosts reserved by grants, by name or as `*.name`. Routes of other organisations without a host, or with a pattern, do
 * not match them; `*` grants the use of hosts and reserves none.
 */
export interface ReservedHosts {
  /** Number of reserved names. */
  readonly size: number;
  /** Owners of a host or host pattern, by the longest reserved name; undefined for an unreserved one. */
  ownersOf(host: string): ReadonlySet<string> | undefined;
}

export interface HostGrant {
  readonly orgId: string;
  readonly domains: readonly string[];
}

export function createReservedHosts(grants: Iterable<HostGrant>): ReservedHosts {
  const ownersByName = new Map<string, Set<string>>();
  for (const { orgId, domains } of grants) {
    for (const domain of domains) {
      if (domain === '*') continue;
      const name = domain.replace(/^\*/, '');
      ownersByName.set(name, (ownersByName.get(name) ?? new Set()).add(orgId));
    }
  }
  return {
    size: ownersByName.size,
    ownersOf(host) {
      if (ownersByName.size === 0) return undefined;
      const name = isLiteralHost(host) ? host : literalHostSuffix(host);
      const own = ownersByName.get(name);
      if (own) return own;
      for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
        const owners = ownersByName.get(name.slice(dot));
        if (owners) return owners;
      }
      return undefined;
    },
  };
}

export const noReservedHosts: ReservedHosts = createReservedHosts([]);

/** Host of a route with its organisation. */
export interface OwnedHost {
  readonly orgId: string;
  readonly host: string;
}

const canReach = (reserved: ReservedHosts, { orgId, host }: OwnedHost, other: string): boolean =>
  isLiteralHost(host) || (reserved.ownersOf(other)?.has(orgId) ?? true);

/** True if a request could match the hosts of both routes. */
export const hasHostOverlap = (reserved: ReservedHosts, one: OwnedHost, other: OwnedHost): boolean =>
  hostsOverlap(one.host, other.host) && canReach(reserved, one, other.host) && canReach(reserved, other, one.host);

/**
 * True if an organisation may have APIs at a host: inside its domains, and not reserved for others by a longer name.
 */
export function isHostGranted(reserved: ReservedHosts, { orgId, domains }: HostGrant, host: string): boolean {
  const name = isLiteralHost(host) ? host : literalHostSuffix(host);
  const isCoveredBy = (domain: string) =>
    domain === '*' || domain === host || (domain[0] === '*' && isBelow(name, domain));
  return domains.some(isCoveredBy) && (reserved.ownersOf(host)?.has(orgId) ?? true);
}

/** `*.b.example` covers what ends in `.b.example`. */
const isBelow = (name: string, domain: string) => name.endsWith(domain.slice(1)) && name !== '';
