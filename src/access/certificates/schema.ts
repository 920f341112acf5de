import { z } from 'zod';

const names = z.array(z.string());
const timestamp = z.iso.datetime();

/** An organisation id followed by the SHA-256 of the certificate, or of a bare public key. */
export const CertificateId = z.string().regex(/^[A-Za-z0-9_-]{0,64}[0-9a-f]{64}$/, 'is not a certificate id');

/** Distinguished name of a subject or issuer (RFC 5280, 4.1.2.4). */
export const PkixName = z.object({
  Country: names,
  Organization: names,
  OrganizationalUnit: names,
  Locality: names,
  Province: names,
  StreetAddress: names,
  PostalCode: names,
  SerialNumber: z.string(),
  CommonName: z.string(),
  /** Every attribute in its order, with its object identifier, known or not. */
  Names: z.array(z.object({ Type: z.array(z.int()), Value: z.string() })),
  ExtraNames: z.array(z.object({ Type: z.array(z.int()), Value: z.string() })),
});
export type PkixName = z.infer<typeof PkixName>;

export const CertificateSummary = z.object({
  id: CertificateId,
  issuer_cn: z.string(),
  subject_cn: z.string(),
  dns_names: names,
  has_private: z.boolean(),
  not_before: timestamp,
  not_after: timestamp,
  is_ca: z.boolean(),
});
export type CertificateSummary = z.infer<typeof CertificateSummary>;

export const FullCertificate = CertificateSummary.omit({ issuer_cn: true, subject_cn: true }).extend({
  fingerprint: z.string().regex(/^[0-9a-f]{64}$/),
  issuer: PkixName,
  subject: PkixName,
});
export type FullCertificate = z.infer<typeof FullCertificate>;

/** An uploaded certificate without its private key; safe to show. */
export const Certificate = z.object({
  id: CertificateId,
  fingerprint: z.string(),
  hasPrivate: z.boolean(),
  isCa: z.boolean(),
  dnsNames: names,
  notBefore: timestamp,
  notAfter: timestamp,
  issuer: PkixName,
  subject: PkixName,
  issuerCn: z.string(),
  subjectCn: z.string(),
  /** The chain, leaf first; empty for a bare public key. */
  certificatesPem: z.string(),
  /** Only for a bare public key. */
  publicKeyPem: z.string().optional(),
});
export type Certificate = z.infer<typeof Certificate>;

/** An upload as it was read: the private key is still in the clear and must be sealed before it is stored. */
export type UploadedCertificate = Certificate & { privateKeyPem?: string };
