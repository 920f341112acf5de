import { createHash, createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { formatIsoTime, zeroTime } from '#base/clock.ts';
import { type CertificateNames, createEmptyName, readCertificateNames } from './pem-names.ts';
import { problem } from './problems.ts';
import type { UploadedCertificate } from './schema.ts';

export const maxUploadBytes = 256 * 1024;
export const maxCertificates = 20;

export interface UploadContext {
  orgId: string;
  nowMs: number;
}

/** Parses an upload: a chain, leaf first, with an optional private key in any place; or one bare public key. */
export function parsePem(text: string, { orgId, nowMs }: UploadContext): UploadedCertificate {
  if (Buffer.byteLength(text) > maxUploadBytes) throw problem.too_large({ detail: { maxBytes: maxUploadBytes } });
  const { certificates, privateKeys, publicKeys } = sortBlocks(parseBlocks(text));
  if (publicKeys.length > 0 && certificates.length + privateKeys.length > 0) throw problem.public_key_combined();
  if (publicKeys.length > 1) throw problem.several_public_keys();
  if (privateKeys.length > 1) throw problem.several_private_keys();
  if (certificates.length > maxCertificates) throw problem.too_many({ detail: { maxCertificates } });
  const [publicKey] = publicKeys;
  if (publicKey) return parsePublicKey(publicKey, orgId);
  if (certificates.length === 0) throw privateKeys.length > 0 ? problem.private_key_alone() : problem.undecodable();
  return parseChain(certificates, privateKeys[0], orgId, nowMs);
}

function parseChain(blocks: Block[], keyBlock: Block | undefined, orgId: string, nowMs: number): UploadedCertificate {
  const certificates = blocks.map(parseCertificate);
  const leaf = certificates[0];
  if (!leaf) throw problem.undecodable();
  const facts = rethrowAs(() => readLeaf(leaf));
  if (leaf.validToDate.getTime() < nowMs) throw problem.expired();
  const privateKey = keyBlock && parsePrivateKey(keyBlock);
  if (privateKey) checkKeyMatchesLeaf(privateKey, certificates);
  return {
    id: orgId + facts.fingerprint,
    hasPrivate: privateKey !== undefined,
    ...facts,
    issuerCn: facts.issuer.CommonName,
    subjectCn: facts.subject.CommonName,
    certificatesPem: certificates.map(certificate => certificate.toString()).join(''),
    ...(privateKey && { privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }),
  };
}

interface LeafFacts extends CertificateNames {
  fingerprint: string;
  isCa: boolean;
  notBefore: string;
  notAfter: string;
}

function readLeaf(leaf: X509Certificate): LeafFacts {
  return {
    fingerprint: sha256(leaf.raw),
    isCa: leaf.ca,
    notBefore: formatIsoTime(leaf.validFromDate.getTime()),
    notAfter: formatIsoTime(leaf.validToDate.getTime()),
    ...readCertificateNames(leaf.raw),
  };
}

function parsePublicKey(block: Block, orgId: string): UploadedCertificate {
  const key = rethrowAs(() => createPublicKey(block.pem));
  const fingerprint = sha256(key.export({ type: 'spki', format: 'der' }));
  return {
    id: orgId + fingerprint,
    fingerprint,
    hasPrivate: false,
    isCa: false,
    dnsNames: [],
    notBefore: zeroTime,
    notAfter: zeroTime,
    issuer: createEmptyName(),
    subject: { ...createEmptyName(), CommonName: `Public Key: ${fingerprint}` },
    issuerCn: '',
    subjectCn: `Public Key: ${fingerprint}`,
    certificatesPem: '',
    publicKeyPem: key.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

function parseCertificate(block: Block): X509Certificate {
  return rethrowAs(() => new X509Certificate(block.pem));
}

function parsePrivateKey(block: Block): KeyObject {
  if (block.label.startsWith('ENCRYPTED') || /^Proc-Type:.*ENCRYPTED/m.test(block.pem))
    throw problem.private_key_encrypted();
  return rethrowAs(() => createPrivateKey(block.pem), problem.private_key_unreadable);
}

function checkKeyMatchesLeaf(privateKey: KeyObject, certificates: X509Certificate[]): void {
  const place = certificates.findIndex(certificate => certificate.checkPrivateKey(privateKey)) + 1;
  if (place === 0) throw problem.private_key_foreign();
  if (place > 1) throw problem.leaf_not_first({ detail: { place } });
}

/** Turns an error of the crypto library into a problem: unreadable input is a client error. */
function rethrowAs<T>(read: () => T, refusal = problem.undecodable): T {
  try {
    return read();
  } catch (cause) {
    throw refusal({ cause });
  }
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

interface Block {
  readonly label: string;
  readonly pem: string;
}

const kinds: Record<string, 'certificates' | 'privateKeys' | 'publicKeys' | 'ignored'> = {
  CERTIFICATE: 'certificates',
  'X509 CERTIFICATE': 'certificates',
  'PRIVATE KEY': 'privateKeys',
  'RSA PRIVATE KEY': 'privateKeys',
  'EC PRIVATE KEY': 'privateKeys',
  'ENCRYPTED PRIVATE KEY': 'privateKeys',
  'PUBLIC KEY': 'publicKeys',
  'RSA PUBLIC KEY': 'publicKeys',
  // OpenSSL writes these beside a key or a chain; the key itself carries all that is needed.
  'EC PARAMETERS': 'ignored',
  'DH PARAMETERS': 'ignored',
};

function sortBlocks(blocks: Block[]) {
  const sorted = { certificates: [] as Block[], privateKeys: [] as Block[], publicKeys: [] as Block[] };
  for (const block of blocks) {
    const kind = Object.hasOwn(kinds, block.label) ? kinds[block.label] : undefined;
    if (kind === undefined) throw problem.unknown_block({ detail: { label: block.label } });
    if (kind !== 'ignored') sorted[kind].push(block);
  }
  return sorted;
}

/** Parses PEM blocks (RFC 7468) in one pass over the lines. Explanatory text around them is skipped. */
function parseBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let open: { label: string; lines: string[] } | undefined;
  for (const line of text.split(/\r\n|\r|\n/).map(each => each.trim())) {
    const [, edge, label] = /^-----(BEGIN|END) ([A-Z0-9 ]{1,40})-----$/.exec(line) ?? [];
    if (edge === undefined || label === undefined) {
      open?.lines.push(line);
      continue;
    }
    if (edge === 'BEGIN' ? open !== undefined : open?.label !== label) throw problem.undecodable();
    if (edge === 'BEGIN') open = { label, lines: [] };
    else if (open) {
      const body = open.lines.join('\n').replace(/^\n+/, '');
      blocks.push({ label, pem: `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n` });
      open = undefined;
    }
  }
  if (open) throw problem.undecodable();
  return blocks;
}
