import type { Certificate, CertificateSummary, FullCertificate } from './schema.ts';

/** The lines shared by both views; neither ever carries key material. */
function factsOf(certificate: Certificate) {
  return {
    id: certificate.id,
    has_private: certificate.hasPrivate,
    is_ca: certificate.isCa,
    dns_names: certificate.dnsNames,
    not_before: certificate.notBefore,
    not_after: certificate.notAfter,
  };
}

export function summaryOf(certificate: Certificate): CertificateSummary {
  return { ...factsOf(certificate), issuer_cn: certificate.issuerCn, subject_cn: certificate.subjectCn };
}

export function fullRecordOf(certificate: Certificate): FullCertificate {
  return {
    ...factsOf(certificate),
    fingerprint: certificate.fingerprint,
    issuer: certificate.issuer,
    subject: certificate.subject,
  };
}
