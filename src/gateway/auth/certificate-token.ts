import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { StepContext } from '../pipeline/step.ts';
import { deny, providesSession, setIdentity } from './auth-result.ts';
import { parsePeerCertificate, type StoredCertificate } from './certificate-cache.ts';
import type { CachedKey } from './key-cache.ts';
import type { AuthServices } from './services.ts';

type CertificateAuthServices = Pick<AuthServices, 'certificates' | 'clock' | 'emitEvent' | 'keyCache'>;

/** Certificate as key: the key id is the organisation and the fingerprint. */
export function createCertificateAuth({
  model,
  services,
}: StepContext<CertificateAuthServices, { also: { api: ['authMethods', 'authentication'] } }>): (
  call: Exchange,
) => MaybePromise<StepResult> {
  const { orgId } = model.identity;
  const setsIdentity = providesSession(model, 'token');

  function checkKey(
    call: Exchange,
    id: string,
    fingerprint: string,
    known: CachedKey | undefined,
  ): MaybePromise<StepResult> {
    if (known?.kind !== 'token' || known.session.password) return refuse(call, 'cert_mismatch');
    const { certificate } = known.session;
    if (certificate !== undefined && certificate !== id && certificate !== fingerprint)
      return deny(services, call, 'cert_mismatch', known.keyHash);
    const stored = services.certificates.find(orgId, id);
    if (stored instanceof Promise) return stored.then(it => checkStored(call, known, it));
    return checkStored(call, known, stored);
  }

  function checkStored(call: Exchange, known: CachedKey, stored: StoredCertificate | undefined): StepResult {
    if (!stored) return deny(services, call, 'cert_not_found', known.keyHash);
    if (setsIdentity) setIdentity(call, known, 'token');
    return undefined;
  }

  return call => {
    const der = call.peer.certificate;
    if (!der) return refuse(call, 'cert_required');
    const { fingerprint, validFromMs, validUntilMs } = parsePeerCertificate(der);
    const now = services.clock.now();
    if (now > validUntilMs) return refuse(call, 'cert_expired');
    if (now < validFromMs) return refuse(call, 'cert_mismatch');
    const id = orgId + fingerprint;
    const key = services.keyCache.find(orgId, id);
    if (key instanceof Promise) return key.then(known => checkKey(call, id, fingerprint, known));
    return checkKey(call, id, fingerprint, key);
  };
}
