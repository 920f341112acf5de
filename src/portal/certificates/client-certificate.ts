import { X509Certificate } from 'node:crypto';
import { parsePem } from '#access/certificates/pem.ts';
import { Problem } from '#base/problems.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import type { NewCertificate } from './schema.ts';

/** Characters of a certificate with its chain. */
export const maxPemChars = 32_768;
const maxNameChars = 255;

export const hasPrivateKey = (text: string): boolean => /PRIVATE KEY/i.test(text);

/**
 * Reads the client certificate of a developer. Private keys are refused: the portal has no use for them. So are
 * authorities, since an allow list with one admits every certificate that it has signed.
 */
export function readClientCertificate(text: string, name: string, nowMs: number, path = 'Certificate'): NewCertificate {
  const refuse = (message: string) => createInvalidProblem([{ path, message }]);
  if (text.trim() === '') throw refuse('is required: send the certificate in the PEM format');
  if (text.length > maxPemChars) throw refuse(`may have at most ${maxPemChars} characters`);
  if (hasPrivateKey(text))
    throw refuse('has a private key, which was not stored: never send it, and send the certificate alone');
  const parsed = parseUpload(text, nowMs, refuse);
  if (parsed.certificatesPem === '') throw refuse('is a public key: send the certificate');
  if (parsed.isCa)
    throw refuse('is that of an authority (CA:TRUE), which would admit all that it has signed: send one of a client');
  return {
    Name: name.slice(0, maxNameChars) || parsed.subjectCn.slice(0, maxNameChars) || parsed.fingerprint.slice(0, 16),
    Fingerprint: parsed.fingerprint,
    Subject: parsed.subjectCn,
    Issuer: parsed.issuerCn,
    NotBefore: Date.parse(parsed.notBefore),
    NotAfter: Date.parse(parsed.notAfter),
    // The leaf alone: an allow list names certificates of clients.
    PEM: new X509Certificate(parsed.certificatesPem).toString(),
  };
}

function parseUpload(text: string, nowMs: number, refuse: (message: string) => Error) {
  try {
    return parsePem(text, { orgId: '', nowMs });
  } catch (error) {
    if (error instanceof Problem && error.status < 500) throw refuse(error.message);
    throw error;
  }
}
