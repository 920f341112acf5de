import { isLiteralHost } from '#definition/route-overlap.ts';
import type { ReservedHosts } from '#people/organisations/reserved-hosts.ts';
import type { TenantGrants } from '../pipeline/tenant-grants.ts';
import type { ServerIdentity } from '../server/tls-acceptor.ts';
import type { Api } from './api.ts';
import { canUseHost } from './route-guard.ts';
import type { Snapshot } from './snapshot.ts';
import { requestsClientCertificate, type SniIdentity } from './sni-identity.ts';

interface SniIndex {
  readonly reservedHosts: ReservedHosts;
  readonly byHost: ReadonlyMap<string, SniIdentity>;
  /** Domains that are templates, the oldest first. */
  readonly patterns: readonly PatternIdentity[];
  /** APIs with this literal domain, the oldest first. */
  readonly apisByHost: ReadonlyMap<string, readonly Api[]>;
  readonly requestsClientCertificates: boolean;
}

interface PatternIdentity {
  readonly api: Api;
  readonly identity: SniIdentity;
}

/** The operator's organisation may present certificates for hosts of tenants. */
type Operator = Pick<TenantGrants, 'isOperator'>;

/**
 * SNI certificate selection from the snapshot in service. A certificate is presented only for hosts of its
 * organisation: those reserved for it, or unreserved ones that no other organisation used before.
 */
export function createSniSelector(snapshot: () => Snapshot, operator: Operator) {
  const indexes = new WeakMap<readonly Api[], SniIndex>();
  function readIndex(): SniIndex {
    const { subsets, reservedHosts } = snapshot();
    let found = indexes.get(subsets.tlsConfigured);
    if (found?.reservedHosts !== reservedHosts) {
      found = buildSniIndex(subsets.tlsConfigured, reservedHosts, operator);
      indexes.set(subsets.tlsConfigured, found);
    }
    return found;
  }
  return {
    identity(serverName: string): ServerIdentity | undefined {
      const { reservedHosts, byHost, patterns, apisByHost } = readIndex();
      const own = byHost.get(serverName);
      if (own || patterns.length === 0) return own;
      const first = apisByHost.get(serverName)?.[0];
      return patterns.find(
        ({ api, identity }) =>
          identity.covers(serverName) &&
          (reservedHosts.ownersOf(serverName)
            ? canPresent(reservedHosts, operator, api.orgId, serverName)
            : !first || first.orgId === api.orgId),
      )?.identity;
    },
    requestsClientCertificates: () => readIndex().requestsClientCertificates,
  };
}

const canPresent = (reservedHosts: ReservedHosts, { isOperator }: Operator, orgId: string, host: string): boolean =>
  canUseHost(reservedHosts, orgId, host) || isOperator(orgId);

function buildSniIndex(apis: readonly Api[], reservedHosts: ReservedHosts, operator: Operator): SniIndex {
  const apisByHost = Map.groupBy(
    apis.filter(({ host }) => isLiteralHost(host)),
    ({ host }) => host,
  );
  const byHost = new Map<string, SniIdentity>();
  for (const [host, sharers] of apisByHost) {
    const identity = selectIdentity(host, sharers, reservedHosts, operator);
    if (identity) byHost.set(host, identity);
  }
  const patterns = apis.flatMap(api =>
    api.sniIdentity && api.host.includes('{') ? [{ api, identity: api.sniIdentity }] : [],
  );
  return {
    reservedHosts,
    byHost,
    patterns,
    apisByHost,
    requestsClientCertificates: apis.some(({ model }) => requestsClientCertificate(model)),
  };
}

/** Precedence: the organisation the host is reserved for, then the operator; for an unreserved host its first user. */
function selectIdentity(
  host: string,
  sharers: readonly Api[],
  reservedHosts: ReservedHosts,
  { isOperator }: Operator,
): SniIdentity | undefined {
  const findIdentity = (isTheirs: (orgId: string) => boolean) =>
    sharers.find(({ orgId, sniIdentity: serverIdentity }) => serverIdentity && isTheirs(orgId))?.sniIdentity;
  const holders = reservedHosts.ownersOf(host);
  if (holders) return findIdentity(orgId => holders.has(orgId)) ?? findIdentity(isOperator);
  return findIdentity(orgId => orgId === sharers[0]!.orgId);
}
