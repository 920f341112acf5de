import { refuse } from '../pipeline/refusals.ts';
import { ApiCompileError, type Step, type StepReads } from '../pipeline/step.ts';
import { isIssuedBy, type PeerCertificate, parsePeerCertificate } from './certificate-cache.ts';
import type { AuthServices } from './services.ts';

type Services = Pick<AuthServices, 'certificates' | 'clock'>;

const reads = { api: ['clientCertificates'] } as const satisfies StepReads;

/** Mutual TLS: the client certificate is in the allowlist, or issued by a CA in it. */
export const clientCertificatesStep: Step<Services, typeof reads> = {
  name: 'client-certificates',
  reads,
  build({ model, services }) {
    const { enabled, allowlist } = model.clientCertificates;
    if (!enabled) return undefined;
    const { orgId } = model.identity;
    const allowed = allowlist.map(id => {
      const certificate = services.certificates.get(orgId, id);
      if (!certificate) throw new ApiCompileError(`the client certificate ${id} is not in the certificate store`);
      return certificate;
    });
    const fingerprints = new Set(allowed.map(({ fingerprint }) => fingerprint));
    const authorities = allowed.flatMap(({ isCa, x509 }) => (isCa && x509 ? [x509] : []));
    /** One decision per connection: its certificate does not change. */
    const decisions = new WeakMap<PeerCertificate, boolean>();
    const isListed = (shown: PeerCertificate) => {
      const cached = decisions.get(shown);
      if (cached !== undefined) return cached;
      const here =
        fingerprints.has(shown.fingerprint) || authorities.some(authority => isIssuedBy(shown.x509, authority));
      decisions.set(shown, here);
      return here;
    };
    return {
      request(call) {
        if (call.skipsAuth) return undefined;
        const { isTls, certificate, serverName } = call.peer;
        if (!isTls) return refuse(call, 'mtls_without_tls');
        // The handshake was for another host, which may require other certificates (421).
        if (serverName !== '' && serverName !== call.host) return refuse(call, 'request_misdirected');
        if (!certificate) return refuse(call, 'mtls_certificate_required');
        const peer = parsePeerCertificate(certificate);
        const now = services.clock.now();
        if (!isListed(peer) || now < peer.validFromMs)
          return refuse(call, 'mtls_not_allowed', { hash: peer.fingerprint });
        return now > peer.validUntilMs ? refuse(call, 'cert_expired') : undefined;
      },
    };
  },
};
