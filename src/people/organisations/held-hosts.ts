import { hostsOverlap, isLiteralHost, literalHostSuffix } from '#definition/route-overlap.ts';

/**
 * Hosts that were granted to organisations by name or as `*.name`. Routes of other organisations that name no host, or a
 * pattern, do not reach them; `*` grants the use of hosts and holds none.
 */
export interface HeldHosts {
  /** Names that were granted. */
  readonly size: number;
  /** Who holds a host, or every host of a pattern; the longest name that was granted decides. Undefined: held by none. */
  holders(host: string): ReadonlySet<string> | undefined;
}

export interface HostGrant {
  readonly orgId: string;
  readonly domains: readonly string[];
}

export function createHeldHosts(grants: Iterable<HostGrant>): HeldHosts {
  const held = new Map<string, Set<string>>();
  for (const { orgId, domains } of grants) {
    for (const domain of domains) {
      if (domain === '*') continue;
      const name = domain.replace(/^\*/, '');
      held.set(name, (held.get(name) ?? new Set()).add(orgId));
    }
  }
  return {
    size: held.size,
    holders(host) {
      if (held.size === 0) return undefined;
      const name = isLiteralHost(host) ? host : literalHostSuffix(host);
      const own = held.get(name);
      if (own) return own;
      for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
        const found = held.get(name.slice(dot));
        if (found) return found;
      }
      return undefined;
    },
  };
}

export const noHeldHosts: HeldHosts = createHeldHosts([]);

/** The host of a route and whose it is. */
export interface OwnedHost {
  readonly orgId: string;
  readonly host: string;
}

const reaches = (held: HeldHosts, { orgId, host }: OwnedHost, other: string): boolean =>
  isLiteralHost(host) || (held.holders(other)?.has(orgId) ?? true);

/** Whether a request could be for the hosts of both routes. */
export const ownedHostsOverlap = (held: HeldHosts, one: OwnedHost, other: OwnedHost): boolean =>
  hostsOverlap(one.host, other.host) && reaches(held, one, other.host) && reaches(held, other, one.host);

/** Whether an organisation may have APIs at a host: within its domains, and not at what others hold by a longer name. */
export function isHostGranted(held: HeldHosts, { orgId, domains }: HostGrant, host: string): boolean {
  const name = isLiteralHost(host) ? host : literalHostSuffix(host);
  const fits = (domain: string) => domain === '*' || domain === host || (domain[0] === '*' && isBelow(name, domain));
  return domains.some(fits) && (held.holders(host)?.has(orgId) ?? true);
}

/** `*.b.example` covers what ends in `.b.example`. */
const isBelow = (name: string, domain: string) => name.endsWith(domain.slice(1)) && name !== '';
