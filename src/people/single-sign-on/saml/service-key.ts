import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

/** Key and certificate of a service provider: elements are encrypted to it, and logout messages are signed with it. */
export interface ServiceKey {
  readonly privateKey: KeyObject;
  readonly certificate: X509Certificate;
}

export const maxPemCharacters = 16_384;
const minModulusBits = 2048;
/** Denial of service: each encrypted response costs one private key operation. */
const maxModulusBits = 4096;

/** Reads a key with its certificate; a text is the reason why they cannot be used. */
export function readServiceKey(keyPem: string, certificatePem: string): ServiceKey | string {
  const privateKey = tryRead(() => createPrivateKey(keyPem));
  const certificate = tryRead(() => new X509Certificate(certificatePem));
  if (!privateKey) return 'must be a private key in PEM without a passphrase';
  if (!certificate || certificatePem.split('-----BEGIN ').length !== 2)
    return 'needs one certificate in PEM as SPCertificate';
  const bits = privateKey.asymmetricKeyDetails?.modulusLength ?? 0;
  if (privateKey.asymmetricKeyType !== 'rsa' || bits < minModulusBits || bits > maxModulusBits)
    return `must be an RSA key of ${minModulusBits} to ${maxModulusBits} bits`;
  if (!certificate.checkPrivateKey(privateKey)) return 'is not the key of SPCertificate';
  return { privateKey, certificate };
}

/** OpenSSL throws for text that it cannot read. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}
