import type { Model } from '#definition/model.ts';
import { isLiteralHost } from '#definition/route-overlap.ts';
import type { ReservedHosts } from '#people/organisations/reserved-hosts.ts';
import type { CertificateCache, StoredCertificate } from '../auth/certificate-cache.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import type { TenantGrants } from '../pipeline/tenant-grants.ts';
import type { ServerIdentity } from '../server/tls-acceptor.ts';
import type { Api } from './api.ts';
import { reachesHost } from './route-guard.ts';
import { byAge } from './route-index.ts';
import type { Snapshot } from './snapshot.ts';

/** The certificates an API shows for its own domain. All of them have to be there, with their keys. */
export function serverIdentityOf(
  { customDomain, identity }: Model,
  certificates: Pick<CertificateCache, 'get'>,
): ApiIdentity | undefined {
  if (!customDomain.enabled || customDomain.certificates.length === 0) return undefined;
  const found = customDomain.certificates.map(id => {
    const certificate = certificates.get(identity.orgId, id);
    if (!certificate?.x509 || !certificate.privateKey)
      throw new ApiCompileError(`the certificate ${id} of its domain is not in the store with its key`);
    return certificate as StoredCertificate & Required<Pick<StoredCertificate, 'privateKey'>>;
  });
  const fitting = found.filter(({ x509 }) => x509!.checkHost(customDomain.name) !== undefined);
  const shown = fitting.length > 0 ? fitting : found;
  return {
    cert: shown.map(({ pem }) => pem),
    key: shown.map(({ privateKey }) => privateKey()),
    fits: name => found.some(({ x509 }) => x509!.checkHost(name) !== undefined),
  };
}

export interface ApiIdentity extends ServerIdentity {
  /** Whether one of its certificates was issued for the name. */
  fits(serverName: string): boolean;
}

interface Names {
  readonly held: ReservedHosts;
  readonly fixed: ReadonlyMap<string, ApiIdentity>;
  /** Of domains that are patterns, the oldest first. */
  readonly open: readonly Shown[];
  /** Organisations with a domain of this name, the oldest first. */
  readonly owners: ReadonlyMap<string, readonly Api[]>;
  readonly asksCallers: boolean;
}

interface Shown {
  readonly api: Api;
  readonly identity: ApiIdentity;
}

/** Whose the installation is; the operator may show certificates for hosts of tenants. */
type Operator = Pick<TenantGrants, 'isOperator'>;

/**
 * Which API answers for a server name in TLS, always from the snapshot in service. A certificate is shown only for hosts
 * of its organisation: those granted to it, or those none was granted and no other organisation had before.
 */
export function serverNames(snapshot: () => Snapshot, operator: Operator) {
  const known = new WeakMap<Snapshot['apis'], Names>();
  function names(): Names {
    const { apis, held } = snapshot();
    let found = known.get(apis);
    if (found?.held !== held) {
      found = namesOf([...apis.values()].filter(({ model }) => model.identity.active).sort(byAge), held, operator);
      known.set(apis, found);
    }
    return found;
  }
  return {
    identity(serverName: string): ServerIdentity | undefined {
      const { held, fixed, open, owners } = names();
      const own = fixed.get(serverName);
      if (own || open.length === 0) return own;
      const first = owners.get(serverName)?.[0];
      return open.find(
        ({ api, identity }) =>
          identity.fits(serverName) &&
          (held.ownersOf(serverName)
            ? mayShow(held, operator, api.orgId, serverName)
            : !first || first.orgId === api.orgId),
      )?.identity;
    },
    asksCallers: () => names().asksCallers,
  };
}

const mayShow = (held: ReservedHosts, { isOperator }: Operator, orgId: string, host: string): boolean =>
  reachesHost(held, orgId, host) || isOperator(orgId);

function namesOf(apis: readonly Api[], held: ReservedHosts, operator: Operator): Names {
  const owners = Map.groupBy(
    apis.filter(({ host }) => isLiteralHost(host)),
    ({ host }) => host,
  );
  const fixed = new Map<string, ApiIdentity>();
  for (const [host, sharers] of owners) {
    const identity = identityFor(host, sharers, held, operator);
    if (identity) fixed.set(host, identity);
  }
  const open = apis.flatMap(api =>
    api.sniIdentity && api.host.includes('{') ? [{ api, identity: api.sniIdentity }] : [],
  );
  return { held, fixed, open, owners, asksCallers: apis.some(({ model }) => wantsCertificate(model)) };
}

/** Of the organisation that holds the host, then of the operator; of the one that had it first where none holds it. */
function identityFor(
  host: string,
  sharers: readonly Api[],
  held: ReservedHosts,
  { isOperator }: Operator,
): ApiIdentity | undefined {
  const of = (isTheirs: (orgId: string) => boolean) =>
    sharers.find(({ orgId, sniIdentity: serverIdentity }) => serverIdentity && isTheirs(orgId))?.sniIdentity;
  const holders = held.ownersOf(host);
  if (holders) return of(orgId => holders.has(orgId)) ?? of(isOperator);
  return of(orgId => orgId === sharers[0]!.orgId);
}

const wantsCertificate = ({ clientCertificates, token, modes }: Model) =>
  clientCertificates.enabled || (modes.includes('token') && token.useCertificate);
