import { createInvalidProblem } from '#operations/validation-error.ts';
import { findAssignedCertificate } from '../certificates/assigned-certificates.ts';
import { readClientCertificate } from '../certificates/client-certificate.ts';
import type { ChosenCertificate, NewCertificate } from '../certificates/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { isBoundToCertificate, type StoredProduct } from '../products/schema.ts';
import type { StoredApp } from './schema.ts';

/** Certificate of a body: one of the app, or a new one. */
export interface CertificateChoice {
  readonly Certificate?: string | undefined;
  readonly CertificateName?: string | undefined;
  readonly CertificateID?: number | undefined;
}

/**
 * Inside a transaction: certificate of a request for products that require one: that of the body, else the one that is
 * assigned to the organisation of the owner. Nothing for a request of a key.
 */
export async function resolveCertificateChoice(
  app: StoredApp,
  body: CertificateChoice,
  products: readonly StoredProduct[],
  services: Pick<PortalServices, 'portal' | 'clock'>,
): Promise<ChosenCertificate | undefined> {
  const named = (['Certificate', 'CertificateID'] as const).filter(name => body[name] !== undefined);
  if (products.some(isBoundToCertificate)) {
    const assigned = named.length === 0 ? await findAssignedCertificate(app, services) : undefined;
    return assigned ?? findChosenCertificate(app, body, services);
  }
  if (named.length === 0) return undefined;
  throw createInvalidProblem(named.map(path => ({ path, message: 'the products require no client certificate' })));
}

/** The certificate that a body names or has; a stored one may have expired meanwhile. */
export async function findChosenCertificate(
  app: Pick<StoredApp, 'ID'>,
  { Certificate, CertificateID, CertificateName = '' }: CertificateChoice,
  { portal, clock }: Pick<PortalServices, 'portal' | 'clock'>,
): Promise<NewCertificate> {
  if (CertificateID === undefined) return readClientCertificate(Certificate ?? '', CertificateName, clock.now());
  if (Certificate !== undefined)
    throw createInvalidProblem([{ path: 'Certificate', message: 'cannot be sent with CertificateID' }]);
  const stored = await portal.certificates.get(CertificateID);
  if (stored?.AppID !== app.ID)
    throw createInvalidProblem([{ path: 'CertificateID', message: `the app has no certificate ${CertificateID}` }]);
  return readClientCertificate(stored.PEM, stored.Name, clock.now(), 'CertificateID');
}
