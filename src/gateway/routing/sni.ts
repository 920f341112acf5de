import type { Model } from '#definition/model.ts';
import { isLiteralHost } from '#definition/route-overlap.ts';
import type { ReservedHosts } from '#people/organisations/reserved-hosts.ts';
import type { CertificateCache, StoredCertificate } from '../auth/certificate-cache.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import type { TenantGrants } from '../pipeline/tenant-grants.ts';
import type { ServerIdentity } from '../server/tls-acceptor.ts';
import type { Api } from './api.ts';
import { canUseHost } from './route-guard.ts';
import { compareAge } from './route-index.ts';
import type { Snapshot } from './snapshot.ts';

/** The certificates an API shows for its own domain. All of them have to be there, with their keys. */
export function createSniIdentity(
  { customDomain, identity }: Model,
  certificates: Pick<CertificateCache, 'get'>,
): SniIdentity | undefined {
  if (!customDomain.enabled || customDomain.certificates.length === 0) return undefined;
  const certificatesOfDomain = customDomain.certificates.map(id => {
    const certificate = certificates.get(identity.orgId, id);
    if (!certificate?.x509 || !certificate.privateKey)
      throw new ApiCompileError(`the certificate ${id} of its domain is not in the store with its key`);
    return certificate as StoredCertificate & Required<Pick<StoredCertificate, 'privateKey'>>;
  });
  const fitting = certificatesOfDomain.filter(({ x509 }) => x509!.checkHost(customDomain.name) !== undefined);
  const presented = fitting.length > 0 ? fitting : certificatesOfDomain;
  return {
    cert: presented.map(({ pem }) => pem),
    key: presented.map(({ privateKey }) => privateKey()),
    covers: name => certificatesOfDomain.some(({ x509 }) => x509!.checkHost(name) !== undefined),
  };
}

export interface SniIdentity extends ServerIdentity {
  /** Whether one of its certificates was issued for the name. */
  covers(serverName: string): boolean;
}

interface SniIndex {
  readonly reservedHosts: ReservedHosts;
  readonly byHost: ReadonlyMap<string, SniIdentity>;
  /** Of domains that are patterns, the oldest first. */
  readonly patterns: readonly PatternIdentity[];
  /** Organisations with a domain of this name, the oldest first. */
  readonly apisByHost: ReadonlyMap<string, readonly Api[]>;
  readonly requestsClientCertificates: boolean;
}

interface PatternIdentity {
  readonly api: Api;
  readonly identity: SniIdentity;
}

/** Whose the installation is; the operator may show certificates for hosts of tenants. */
type Operator = Pick<TenantGrants, 'isOperator'>;

/**
 * Which API answers for a server name in TLS, always from the snapshot in service. A certificate is shown only for hosts
 * of its organisation: those granted to it, or those none was granted and no other organisation had before.
 */
export function createSniSelector(snapshot: () => Snapshot, operator: Operator) {
  const indexes = new WeakMap<Snapshot['apis'], SniIndex>();
  function readIndex(): SniIndex {
    const { apis, held } = snapshot();
    let found = indexes.get(apis);
    if (found?.reservedHosts !== held) {
      found = buildSniIndex(
        [...apis.values()].filter(({ model }) => model.identity.active).sort(compareAge),
        held,
        operator,
      );
      indexes.set(apis, found);
    }
    return found;
  }
  return {
    identity(serverName: string): ServerIdentity | undefined {
      const { reservedHosts: held, byHost: fixed, patterns: open, apisByHost: owners } = readIndex();
      const own = fixed.get(serverName);
      if (own || open.length === 0) return own;
      const first = owners.get(serverName)?.[0];
      return open.find(
        ({ api, identity }) =>
          identity.covers(serverName) &&
          (held.ownersOf(serverName)
            ? canPresent(held, operator, api.orgId, serverName)
            : !first || first.orgId === api.orgId),
      )?.identity;
    },
    requestsClientCertificates: () => readIndex().requestsClientCertificates,
  };
}

const canPresent = (held: ReservedHosts, { isOperator }: Operator, orgId: string, host: string): boolean =>
  canUseHost(held, orgId, host) || isOperator(orgId);

function buildSniIndex(apis: readonly Api[], held: ReservedHosts, operator: Operator): SniIndex {
  const owners = Map.groupBy(
    apis.filter(({ host }) => isLiteralHost(host)),
    ({ host }) => host,
  );
  const fixed = new Map<string, SniIdentity>();
  for (const [host, sharers] of owners) {
    const identity = selectIdentity(host, sharers, held, operator);
    if (identity) fixed.set(host, identity);
  }
  const open = apis.flatMap(api =>
    api.sniIdentity && api.host.includes('{') ? [{ api, identity: api.sniIdentity }] : [],
  );
  return {
    reservedHosts: held,
    byHost: fixed,
    patterns: open,
    apisByHost: owners,
    requestsClientCertificates: apis.some(({ model }) => requestsCertificate(model)),
  };
}

/** Of the organisation that holds the host, then of the operator; of the one that had it first where none holds it. */
function selectIdentity(
  host: string,
  sharers: readonly Api[],
  held: ReservedHosts,
  { isOperator }: Operator,
): SniIdentity | undefined {
  const findIdentity = (isTheirs: (orgId: string) => boolean) =>
    sharers.find(({ orgId, sniIdentity: serverIdentity }) => serverIdentity && isTheirs(orgId))?.sniIdentity;
  const holders = held.ownersOf(host);
  if (holders) return findIdentity(orgId => holders.has(orgId)) ?? findIdentity(isOperator);
  return findIdentity(orgId => orgId === sharers[0]!.orgId);
}

const requestsCertificate = ({ clientCertificates, token, modes }: Model) =>
  clientCertificates.enabled || (modes.includes('token') && token.useCertificate);
