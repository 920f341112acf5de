import { hostsOverlap, isLiteralHost, literalHostSuffix } from '#definition/route-overlap.ts';

/**
 * Hosts that were granted to organisations by name or as `*.name`. Routes of other organisations that name no host, or a
 * pattern, do not reach them; `*` grants the use of hosts and holds none.
 */
export interface ReservedHosts {
  /** Names that were granted. */
  readonly size: number;
  /** Who holds a host, or every host of a pattern; the longest name that was granted decides. Undefined: held by none. */
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

/** The host of a route and whose it is. */
export interface OwnedHost {
  readonly orgId: string;
  readonly host: string;
}

const canReach = (reserved: ReservedHosts, { orgId, host }: OwnedHost, other: string): boolean =>
  isLiteralHost(host) || (reserved.ownersOf(other)?.has(orgId) ?? true);

/** Whether a request could be for the hosts of both routes. */
export const hasHostOverlap = (reserved: ReservedHosts, one: OwnedHost, other: OwnedHost): boolean =>
  hostsOverlap(one.host, other.host) && canReach(reserved, one, other.host) && canReach(reserved, other, one.host);

/** Whether an organisation may have APIs at a host: within its domains, and not at what others hold by a longer name. */
export function isHostGranted(reserved: ReservedHosts, { orgId, domains }: HostGrant, host: string): boolean {
  const name = isLiteralHost(host) ? host : literalHostSuffix(host);
  const isCoveredBy = (domain: string) =>
    domain === '*' || domain === host || (domain[0] === '*' && isBelow(name, domain));
  return domains.some(isCoveredBy) && (reserved.ownersOf(host)?.has(orgId) ?? true);
}

/** `*.b.example` covers what ends in `.b.example`. */
const isBelow = (name: string, domain: string) => name.endsWith(domain.slice(1)) && name !== '';
