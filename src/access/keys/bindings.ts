import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';
import type { CertificateStore } from '../certificates/store.ts';
import type { Key } from './schema.ts';

/** Certificates one key may be bound to. */
const maxBindings = 100;

/**
 * Certificate references of a key: refuses unknown ones. Such a key could not be used, until an upload of that
 * certificate by any user of the organisation makes it usable. References the key had before are kept.
 */
export async function refuseUnknownBindings(
  certificates: Pick<CertificateStore, 'get'>,
  orgId: string,
  sent: Key,
  previous: Key = {},
): Promise<void> {
  const bindings = sent.mtls_static_certificate_bindings ?? [];
  const path = 'mtls_static_certificate_bindings';
  if (bindings.length > maxBindings)
    throw createInvalidProblem([{ path, message: `must have at most ${maxBindings} items` }]);
  const previousIds = new Set(previous.mtls_static_certificate_bindings);
  const faults: ValidationError[] = [];
  for (const [at, id] of bindings.entries())
    if (!previousIds.has(id) && !(await certificates.get(orgId, id)))
      faults.push({ path: `${path}[${at}]`, message: 'there is no such certificate' });
  const rsa = sent.rsa_certificate_id;
  if (rsa && rsa !== previous.rsa_certificate_id && !(await certificates.get(orgId, rsa)))
    faults.push({ path: 'rsa_certificate_id', message: 'there is no such certificate' });
  if (faults.length > 0) throw createInvalidProblem(faults);
}

/** A certificate-bound key is looked up by its certificate, which must exist. */
export async function refuseUnknownCertificate(
  certificates: Pick<CertificateStore, 'get'>,
  orgId: string,
  { certificate }: Key,
): Promise<void> {
  if (certificate && !(await certificates.get(orgId, certificate)))
    throw createInvalidProblem([{ path: 'certificate', message: 'Key must be used with an existent certificate' }]);
}
