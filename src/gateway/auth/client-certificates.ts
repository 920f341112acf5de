import { refuse } from '../pipeline/refusals.ts';
import { ApiCompileError, type Step } from '../pipeline/step.ts';
import { isSignedBy, type ShownCertificate, shownCertificate } from './certificates.ts';

/** Callers show one of the listed certificates, or one that a listed authority signed. */
export const clientCertificates: Step = {
  name: 'client-certificates',
  build({ model, services }) {
    const { enabled, allowlist } = model.clientCertificates;
    if (!enabled) return undefined;
    const { orgId } = model.identity;
    const listed = allowlist.map(id => {
      const certificate = services.certificates.get(orgId, id);
      if (!certificate) throw new ApiCompileError(`the client certificate ${id} is not in the store`);
      return certificate;
    });
    const fingerprints = new Set(listed.map(({ fingerprint }) => fingerprint));
    const authorities = listed.flatMap(({ isCa, x509 }) => (isCa && x509 ? [x509] : []));
    /** A connection shows the same certificate on every call: whether it is let in is decided once. */
    const decided = new WeakMap<ShownCertificate, boolean>();
    const isListed = (shown: ShownCertificate) => {
      const known = decided.get(shown);
      if (known !== undefined) return known;
      const here =
        fingerprints.has(shown.fingerprint) || authorities.some(authority => isSignedBy(shown.x509, authority));
      decided.set(shown, here);
      return here;
    };
    return {
      request(call) {
        if (call.skipsAuth) return undefined;
        const { isTls, certificate, serverName } = call.peer;
        if (!isTls) return refuse(call, 'mtls_without_tls');
        // The handshake was for another host, whose rules about certificates may have been others.
        if (serverName !== '' && serverName !== call.host) return refuse(call, 'misdirected');
        if (!certificate) return refuse(call, 'mtls_certificate_required');
        const shown = shownCertificate(certificate);
        const now = services.clock.now();
        if (!isListed(shown) || now < shown.validFromMs)
          return refuse(call, 'mtls_not_allowed', { hash: shown.fingerprint });
        return now > shown.validUntilMs ? refuse(call, 'cert_expired') : undefined;
      },
    };
  },
};
