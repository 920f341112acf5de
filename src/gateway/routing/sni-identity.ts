import type { Model } from '#definition/model.ts';
import type { CertificateCache, StoredCertificate } from '../auth/certificate-cache.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import type { ServerIdentity } from '../server/tls-acceptor.ts';

export interface SniIdentity extends ServerIdentity {
  /** One of its certificates is valid for the name. */
  covers(serverName: string): boolean;
}

/** Certificates of an API's custom domain. All of them must be stored, with private keys. */
export function createSniIdentity(
  { customDomain, identity }: Model,
  certificates: Pick<CertificateCache, 'get'>,
): SniIdentity | undefined {
  if (!customDomain.enabled || customDomain.certificates.length === 0) return undefined;
  const certificatesOfDomain = customDomain.certificates.map(id => {
    const certificate = certificates.get(identity.orgId, id);
    if (!certificate?.x509 || !certificate.privateKey)
      throw new ApiCompileError(
        `the certificate ${id} of its domain is not in the certificate store with its private key`,
      );
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

export const requestsClientCertificate = ({ clientCertificates, token, authMethods }: Model): boolean =>
  clientCertificates.enabled || (authMethods.includes('token') && token.useCertificate);
