import { constants, createDecipheriv, type KeyObject, privateDecrypt, randomBytes } from 'node:crypto';
import { SignOnRefusal } from '../problems.ts';
import { listChildren, readAttribute, readElementText } from './elements.ts';

/** Key of a service provider, for elements that are encrypted to its certificate (XML Encryption 1.1). */
export interface DecryptionKey {
  readonly privateKey: KeyObject;
  /** Accepts RSAES-PKCS1-v1_5 key transport. */
  readonly acceptsRsa15: boolean;
}

interface ContentCipher {
  readonly name: 'aes-128-cbc' | 'aes-256-cbc' | 'aes-128-gcm' | 'aes-256-gcm';
  readonly keyBytes: number;
}

const contentCiphers = new Map<string, ContentCipher>([
  ['http://www.w3.org/2001/04/xmlenc#aes128-cbc', { name: 'aes-128-cbc', keyBytes: 16 }],
  ['http://www.w3.org/2001/04/xmlenc#aes256-cbc', { name: 'aes-256-cbc', keyBytes: 32 }],
  ['http://www.w3.org/2009/xmlenc11#aes128-gcm', { name: 'aes-128-gcm', keyBytes: 16 }],
  ['http://www.w3.org/2009/xmlenc11#aes256-gcm', { name: 'aes-256-gcm', keyBytes: 32 }],
]);

const rsa15 = 'http://www.w3.org/2001/04/xmlenc#rsa-1_5';
const oaepMgf1Sha1 = 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p';
const oaep = 'http://www.w3.org/2009/xmlenc11#rsa-oaep';
const sha1 = 'http://www.w3.org/2000/09/xmldsig#sha1';
const mgf1Sha1 = 'http://www.w3.org/2009/xmlenc11#mgf1sha1';

/** Digest by digest and mask generation: both are of one hash. */
const oaepHashes = new Map([
  [`${sha1} ${mgf1Sha1}`, 'sha1'],
  ['http://www.w3.org/2001/04/xmlenc#sha256 http://www.w3.org/2009/xmlenc11#mgf1sha256', 'sha256'],
  ['http://www.w3.org/2001/04/xmlenc#sha512 http://www.w3.org/2009/xmlenc11#mgf1sha512', 'sha512'],
]);

const blockBytes = 16;
const gcmNonceBytes = 12;
const gcmTagBytes = 16;

/** One reason for every failure behind the algorithms: another one would be a padding oracle. */
export const undecryptable = () => new SignOnRefusal('assertion cannot be decrypted');

/** Decrypts the only `EncryptedData` of an element, such as `EncryptedAssertion`, to text. */
export function decryptElement(encrypted: unknown, key: DecryptionKey): string {
  const data = readOnly(encrypted, 'EncryptedData');
  const inside = listChildren(data, 'KeyInfo').flatMap(it => listChildren(it, 'EncryptedKey'));
  const [wrapped, ...others] = [...listChildren(encrypted, 'EncryptedKey'), ...inside];
  if (wrapped === undefined || others.length > 0) throw new SignOnRefusal('EncryptedKey missing or repeated');
  const cipher = contentCiphers.get(readAlgorithm(data));
  if (!cipher) throw new SignOnRefusal('content encryption algorithm refused');
  const contentKey = unwrapKey(wrapped, cipher.keyBytes, key);
  const plain = decryptContent(readCipherValue(data), contentKey, cipher);
  if (!plain) throw undecryptable();
  return plain.toString('utf8');
}

function readOnly(parent: unknown, name: string): unknown {
  const [only, ...others] = listChildren(parent, name);
  if (only === undefined || others.length > 0) throw new SignOnRefusal(`${name} missing or repeated`);
  return only;
}

const readAlgorithm = (element: unknown) => readAttribute(readOnly(element, 'EncryptionMethod'), 'Algorithm');

/** Ciphertext inside of the message: a `CipherReference` would be fetched, and is refused. */
function readCipherValue(element: unknown): Buffer {
  const text = readElementText(readOnly(readOnly(element, 'CipherData'), 'CipherValue')).replaceAll(/\s/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw new SignOnRefusal('CipherValue is not base64');
  return Buffer.from(text, 'base64');
}

/**
 * Key transport. A key that cannot be unwrapped, or has another length, is replaced by a random one, so that decryption
 * continues as with the right one (RFC 3218, 2.3.2).
 */
function unwrapKey(wrapped: unknown, keyBytes: number, { privateKey, acceptsRsa15 }: DecryptionKey): Buffer {
  const padding = readPadding(wrapped, acceptsRsa15);
  const bytes = readCipherValue(wrapped);
  const replacement = randomBytes(keyBytes);
  try {
    const key = privateDecrypt({ key: privateKey, ...padding }, bytes);
    return key.length === keyBytes ? key : replacement;
  } catch {
    return replacement;
  }
}

function readPadding(wrapped: unknown, acceptsRsa15: boolean) {
  const algorithm = readAlgorithm(wrapped);
  if (algorithm === rsa15 && acceptsRsa15) return { padding: constants.RSA_PKCS1_PADDING };
  if (algorithm === rsa15) throw new SignOnRefusal('key transport RSA 1.5 refused: see sso.allow_saml_rsa15');
  if (algorithm !== oaep && algorithm !== oaepMgf1Sha1) throw new SignOnRefusal('key transport algorithm refused');
  const [method] = listChildren(wrapped, 'EncryptionMethod');
  if (listChildren(method, 'OAEPparams').length > 0) throw new SignOnRefusal('OAEPparams refused');
  const digest = readAttribute(listChildren(method, 'DigestMethod')[0], 'Algorithm') || sha1;
  const mask = (algorithm === oaep && readAttribute(listChildren(method, 'MGF')[0], 'Algorithm')) || mgf1Sha1;
  const oaepHash = oaepHashes.get(`${digest} ${mask}`);
  if (!oaepHash) throw new SignOnRefusal('RSA-OAEP refused: digest and mask generation must be of one hash');
  return { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash };
}

function decryptContent(bytes: Buffer, key: Buffer, { name }: ContentCipher): Buffer | undefined {
  if (name === 'aes-128-gcm' || name === 'aes-256-gcm') return decryptGcm(bytes, key, name);
  if (bytes.length < 2 * blockBytes || bytes.length % blockBytes !== 0) return undefined;
  const decipher = createDecipheriv(name, key, bytes.subarray(0, blockBytes)).setAutoPadding(false);
  const padded = Buffer.concat([decipher.update(bytes.subarray(blockBytes)), decipher.final()]);
  // Only the last byte of the padding has a meaning (XML Encryption 1.1, 5.2.1).
  const paddingBytes = padded.at(-1)!;
  return paddingBytes >= 1 && paddingBytes <= blockBytes ? padded.subarray(0, -paddingBytes) : undefined;
}

function decryptGcm(bytes: Buffer, key: Buffer, name: 'aes-128-gcm' | 'aes-256-gcm'): Buffer | undefined {
  if (bytes.length <= gcmNonceBytes + gcmTagBytes) return undefined;
  const decipher = createDecipheriv(name, key, bytes.subarray(0, gcmNonceBytes), { authTagLength: gcmTagBytes });
  decipher.setAuthTag(bytes.subarray(-gcmTagBytes));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(gcmNonceBytes, -gcmTagBytes)), decipher.final()]);
  } catch {
    return undefined;
  }
}
