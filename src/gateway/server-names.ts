import type { Model } from '#definition/model.ts';
import type { Api } from './api.ts';
import type { Certificates, KnownCertificate } from './auth/certificates.ts';
import type { Snapshot } from './snapshot.ts';
import { Unservable } from './step.ts';
import type { ServerIdentity } from './transport/secured.ts';

/** The certificates an API shows for its own domain. All of them have to be there, with their keys. */
export function serverIdentityOf(
  { customDomain, identity }: Model,
  certificates: Pick<Certificates, 'get'>,
): ApiIdentity | undefined {
  if (!customDomain.enabled || customDomain.certificates.length === 0) return undefined;
  const found = customDomain.certificates.map(id => {
    const certificate = certificates.get(identity.orgId, id);
    if (!certificate?.x509 || !certificate.privateKey)
      throw new Unservable(`the certificate ${id} of its domain is not in the store with its key`);
    return certificate as KnownCertificate & Required<Pick<KnownCertificate, 'privateKey'>>;
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
  readonly fixed: ReadonlyMap<string, ApiIdentity>;
  /** Of domains that are patterns. */
  readonly open: readonly ApiIdentity[];
  readonly asksCallers: boolean;
}

/** Which API answers for a server name in TLS, always from the snapshot in service. */
export function serverNames(snapshot: () => Snapshot) {
  const known = new WeakMap<Snapshot['apis'], Names>();
  function names(): Names {
    const { apis } = snapshot();
    let found = known.get(apis);
    if (!found) {
      found = namesOf([...apis.values()].filter(({ model }) => model.identity.active));
      known.set(apis, found);
    }
    return found;
  }
  return {
    identity(serverName: string): ServerIdentity | undefined {
      const { fixed, open } = names();
      return fixed.get(serverName) ?? open.find(identity => identity.fits(serverName));
    },
    asksCallers: () => names().asksCallers,
  };
}

function namesOf(apis: readonly Api[]): Names {
  const fixed = new Map<string, ApiIdentity>();
  const open: ApiIdentity[] = [];
  for (const { host, serverIdentity } of apis) {
    if (!serverIdentity) continue;
    if (host.includes('{')) open.push(serverIdentity);
    else if (!fixed.has(host)) fixed.set(host, serverIdentity);
  }
  return { fixed, open, asksCallers: apis.some(({ model }) => wantsCertificate(model)) };
}

const wantsCertificate = ({ clientCertificates, token, modes }: Model) =>
  clientCertificates.enabled || (modes.includes('token') && token.useCertificate);
