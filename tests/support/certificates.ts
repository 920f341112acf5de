import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';

/** Real certificates for tests, written as DER and signed here, so that no command line has to be installed. */
export interface CertificateWish {
  cn: string;
  organization?: string;
  /** Any subject, in order: each inner list is one relative name, with more than one pair if it is multi-valued. */
  subject?: readonly (readonly (readonly [oid: string, value: string])[])[];
  dnsNames?: readonly string[];
  ipAddresses?: readonly string[];
  isCa?: boolean;
  /** What the certificate may be used for; absent means anything. */
  usages?: readonly ('server' | 'client')[];
  notBefore?: Date;
  notAfter?: Date;
  /** A made certificate that signs this one; absent means it signs itself. */
  issuer?: MadeCertificate;
  keyType?: 'rsa' | 'ec' | 'ed25519';
}

export interface MadeCertificate {
  certPem: string;
  keyPem: string;
  publicKeyPem: string;
  /** The certificate followed by those that signed it, without the one that signed itself: what a server presents. */
  chainPem: string;
  /** SHA-256 of the certificate, 64 hexadecimal characters. */
  fingerprint: string;
  /** The subject as DER, for those it signs. */
  subjectDer: Buffer;
}

/** Validity that does not depend on the clock of the test. */
const longAgo = new Date('2020-01-01T00:00:00Z');
const farAhead = new Date('2049-12-31T23:59:59Z');

export function makeCertificate(wish: CertificateWish): MadeCertificate {
  const { publicKey, privateKey } = keyPair(wish.keyType ?? 'ec');
  const signer = wish.issuer ? createPrivateKey(wish.issuer.keyPem) : privateKey;
  const algorithm = signatureAlgorithm(signer);
  const subjectDer = nameDer(wish.subject ?? plainSubject(wish));
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const body = sequence(
    encodeTagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([0x40]), randomBytes(15)])),
    algorithm,
    wish.issuer?.subjectDer ?? subjectDer,
    sequence(time(wish.notBefore ?? longAgo), time(wish.notAfter ?? farAhead)),
    subjectDer,
    spki,
    encodeTagged(0xa3, sequence(...extensions(wish, spki))),
  );
  const signature = sign(signer.asymmetricKeyType === 'ed25519' ? null : 'sha256', body, signer);
  const der = sequence(body, algorithm, bits(signature));
  const certPem = new X509Certificate(der).toString();
  return {
    certPem,
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    chainPem: certPem + (wish.issuer ? withoutRoot(wish.issuer) : ''),
    fingerprint: createHash('sha256').update(der).digest('hex'),
    subjectDer,
  };
}

/** A certificate authority ready to sign. */
export function makeAuthority(cn = 'Test authority', wish: Partial<CertificateWish> = {}): MadeCertificate {
  return makeCertificate({ cn, isCa: true, ...wish });
}

/** What a TLS server on a loopback address presents. */
export function makeServerCertificate(issuer: MadeCertificate, wish: Partial<CertificateWish> = {}): MadeCertificate {
  const loopback = { cn: 'localhost', dnsNames: ['localhost'], ipAddresses: ['127.0.0.1', '::1'] };
  return makeCertificate({ ...loopback, usages: ['server'], issuer, ...wish });
}

export function makeClientCertificate(
  issuer: MadeCertificate,
  cn = 'Test client',
  wish: Partial<CertificateWish> = {},
): MadeCertificate {
  return makeCertificate({ cn, usages: ['client'], issuer, ...wish });
}

function withoutRoot(issuer: MadeCertificate): string {
  const certificate = new X509Certificate(issuer.certPem);
  return certificate.checkIssued(certificate) ? '' : issuer.chainPem;
}

function keyPair(keyType: 'rsa' | 'ec' | 'ed25519'): { publicKey: KeyObject; privateKey: KeyObject } {
  if (keyType === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2048 });
  if (keyType === 'ec') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return generateKeyPairSync('ed25519');
}

function signatureAlgorithm(signer: KeyObject): Buffer {
  if (signer.asymmetricKeyType === 'rsa') return sequence(oid('1.2.840.113549.1.1.11'), encodeTagged(0x05));
  return sequence(oid(signer.asymmetricKeyType === 'ec' ? '1.2.840.10045.4.3.2' : '1.3.101.112'));
}

function plainSubject({ cn, organization }: CertificateWish): [string, string][][] {
  return [
    ...(organization === undefined ? [] : [[['2.5.4.10', organization]] as [string, string][]]),
    [['2.5.4.3', cn]],
  ];
}

function nameDer(subject: NonNullable<CertificateWish['subject']>): Buffer {
  return sequence(
    ...subject.map(pairs =>
      encodeTagged(
        0x31,
        ...pairs.map(([type, value]) => sequence(oid(type), encodeTagged(0x0c, Buffer.from(value, 'utf8')))),
      ),
    ),
  );
}

const usageOids = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' };

function extensions(wish: CertificateWish, spki: Buffer): Buffer[] {
  const alternatives = [
    ...(wish.dnsNames ?? []).map(name => encodeTagged(0x82, Buffer.from(name, 'latin1'))),
    ...(wish.ipAddresses ?? []).map(address => encodeTagged(0x87, addressBytes(address))),
  ];
  // Signing certificates and lists for an authority; signatures and key exchange for everybody else.
  const keyUsage = Buffer.from(wish.isCa ? [1, 0x06] : [5, 0xa0]);
  return [
    extension('2.5.29.19', true, sequence(...(wish.isCa ? [encodeTagged(0x01, Buffer.from([0xff]))] : []))),
    extension('2.5.29.15', true, encodeTagged(0x03, keyUsage)),
    extension('2.5.29.14', false, encodeTagged(0x04, createHash('sha1').update(spki).digest())),
    ...(wish.usages
      ? [extension('2.5.29.37', false, sequence(...wish.usages.map(usage => oid(usageOids[usage]))))]
      : []),
    ...(alternatives.length > 0 ? [extension('2.5.29.17', false, sequence(...alternatives))] : []),
  ];
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return sequence(oid(id), ...(critical ? [encodeTagged(0x01, Buffer.from([0xff]))] : []), encodeTagged(0x04, value));
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = address.split('::');
  const groups = (text: string) => text.split(':').filter(group => group !== '');
  const middle = Array.from({ length: 8 - groups(head).length - groups(tail).length }, () => '0');
  const all = [...groups(head), ...middle, ...groups(tail)];
  return Buffer.from(all.map(group => group.padStart(4, '0')).join(''), 'hex');
}

function encodeTagged(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const header = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...header]), content]);
}

const sequence = (...parts: Buffer[]): Buffer => encodeTagged(0x30, ...parts);
const integer = (bytes: Buffer): Buffer => encodeTagged(0x02, bytes);
const bits = (bytes: Buffer): Buffer => encodeTagged(0x03, Buffer.from([0]), bytes);

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  return encodeTagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(arc: number): number[] {
  const digits = [arc & 0x7f];
  for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) digits.unshift((left & 0x7f) | 0x80);
  return digits;
}

/** Years up to 2049 are written with two digits, later ones with four. */
function time(at: Date): Buffer {
  const text = at.toISOString().replace(/[-:T]|\.\d+/g, '');
  return at.getUTCFullYear() < 2050
    ? encodeTagged(0x17, Buffer.from(text.slice(2)))
    : encodeTagged(0x18, Buffer.from(text));
}
