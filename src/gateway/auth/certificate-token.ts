import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { MaybePromise, StepContext, StepResult } from '../pipeline/step.ts';
import { adopt, deny, givesSession } from './auth-result.ts';
import { type KnownCertificate, shownCertificate } from './certificates.ts';
import type { KnownKey } from './key-cache.ts';

/** The client certificate is the key: the id of the key is made of its fingerprint. */
export function certificateToken({ model, services }: StepContext): (call: Exchange) => MaybePromise<StepResult> {
  const { orgId } = model.identity;
  const gives = givesSession(model, 'token');

  function admitted(
    call: Exchange,
    id: string,
    fingerprint: string,
    known: KnownKey | undefined,
  ): MaybePromise<StepResult> {
    if (known?.kind !== 'token' || known.session.password) return refuse(call, 'cert_mismatch');
    const { certificate } = known.session;
    if (certificate !== undefined && certificate !== id && certificate !== fingerprint)
      return deny(services, call, 'cert_mismatch', known.keyHash);
    const stored = services.certificates.find(orgId, id);
    if (stored instanceof Promise) return stored.then(it => kept(call, known, it));
    return kept(call, known, stored);
  }

  function kept(call: Exchange, known: KnownKey, stored: KnownCertificate | undefined): StepResult {
    if (!stored) return deny(services, call, 'cert_not_found', known.keyHash);
    if (gives) adopt(call, known, 'token');
    return undefined;
  }

  return call => {
    const der = call.peer.certificate;
    if (!der) return refuse(call, 'cert_required');
    const { fingerprint, validFromMs, validUntilMs } = shownCertificate(der);
    const now = services.clock.now();
    if (now > validUntilMs) return refuse(call, 'cert_expired');
    if (now < validFromMs) return refuse(call, 'cert_mismatch');
    const id = orgId + fingerprint;
    const found = services.keyCache.find(orgId, id);
    if (found instanceof Promise) return found.then(known => admitted(call, id, fingerprint, known));
    return admitted(call, id, fingerprint, found);
  };
}
