import type { Certificate, CertificateSummary, FullCertificate } from './schema.ts';

/** Members both views share; neither carries key material. */
function commonMembers(certificate: Certificate) {
  return {
    id: certificate.id,
    has_private: certificate.hasPrivate,
    is_ca: certificate.isCa,
    dns_names: certificate.dnsNames,
    not_before: certificate.notBefore,
    not_after: certificate.notAfter,
  };
}

export function toCertificateSummary(certificate: Certificate): CertificateSummary {
  return { ...commonMembers(certificate), issuer_cn: certificate.issuerCn, subject_cn: certificate.subjectCn };
}

export function toFullCertificate(certificate: Certificate): FullCertificate {
  return {
    ...commonMembers(certificate),
    fingerprint: certificate.fingerprint,
    issuer: certificate.issuer,
    subject: certificate.subject,
  };
}
