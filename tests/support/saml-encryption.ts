import { constants, createCipheriv, type KeyLike, publicEncrypt, randomBytes } from 'node:crypto';

/** XML Encryption of an assertion, with every combination that samlp does not offer. */
export interface EncryptionWish {
  readonly publicKey: KeyLike;
  readonly content?: keyof typeof contents;
  readonly transport?: 'rsa-1_5' | 'rsa-oaep-mgf1p' | 'rsa-oaep';
  readonly hash?: 'sha1' | 'sha256' | 'sha512';
  /** Members of `EncryptionMethod` of the key, in place of those that follow from `hash`. */
  readonly methodMembers?: string;
  /** `EncryptedKey` beside `EncryptedData`, as some providers write it. */
  readonly keyBeside?: boolean;
  /** Content key in place of a random one of the right length. */
  readonly contentKey?: Buffer;
  /** Change of the content before it is encrypted, after padding. */
  changePadded?(padded: Buffer): Buffer;
}

const contents = {
  'aes128-cbc': { cipher: 'aes-128-cbc', bytes: 16, uri: 'http://www.w3.org/2001/04/xmlenc#aes128-cbc' },
  'aes256-cbc': { cipher: 'aes-256-cbc', bytes: 32, uri: 'http://www.w3.org/2001/04/xmlenc#aes256-cbc' },
  'aes128-gcm': { cipher: 'aes-128-gcm', bytes: 16, uri: 'http://www.w3.org/2009/xmlenc11#aes128-gcm' },
  'aes256-gcm': { cipher: 'aes-256-gcm', bytes: 32, uri: 'http://www.w3.org/2009/xmlenc11#aes256-gcm' },
} as const;
export const contentNames = Object.keys(contents) as (keyof typeof contents)[];

const transports = {
  'rsa-1_5': 'http://www.w3.org/2001/04/xmlenc#rsa-1_5',
  'rsa-oaep-mgf1p': 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
  'rsa-oaep': 'http://www.w3.org/2009/xmlenc11#rsa-oaep',
} as const;

const digests = {
  sha1: 'http://www.w3.org/2000/09/xmldsig#sha1',
  sha256: 'http://www.w3.org/2001/04/xmlenc#sha256',
  sha512: 'http://www.w3.org/2001/04/xmlenc#sha512',
} as const;

const encryptContent = (text: string, key: Buffer, wish: EncryptionWish): Buffer => {
  const { cipher } = contents[wish.content ?? 'aes256-gcm'];
  if (cipher === 'aes-128-gcm' || cipher === 'aes-256-gcm') {
    const nonce = randomBytes(12);
    const encipher = createCipheriv(cipher, key, nonce);
    return Buffer.concat([nonce, encipher.update(text, 'utf8'), encipher.final(), encipher.getAuthTag()]);
  }
  const plain = Buffer.from(text);
  const missing = 16 - (plain.length % 16);
  // The bytes before the last one are arbitrary (XML Encryption 1.1, 5.2.1).
  const padded = Buffer.concat([plain, randomBytes(missing - 1), Buffer.from([missing])]);
  const iv = randomBytes(16);
  const encipher = createCipheriv(cipher, key, iv).setAutoPadding(false);
  return Buffer.concat([iv, encipher.update(wish.changePadded?.(padded) ?? padded), encipher.final()]);
};

/** `EncryptedAssertion` with a text that is encrypted to a key. */
export function encryptAssertion(text: string, wish: EncryptionWish): string {
  const { content = 'aes256-gcm', transport = 'rsa-oaep-mgf1p', hash = 'sha1', publicKey } = wish;
  const { bytes, uri } = contents[content];
  const key = wish.contentKey ?? randomBytes(bytes);
  const padding =
    transport === 'rsa-1_5'
      ? { padding: constants.RSA_PKCS1_PADDING }
      : { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: hash };
  const wrapped = publicEncrypt({ key: publicKey as string, ...padding }, key).toString('base64');
  const mask = transport === 'rsa-oaep' ? `<e11:MGF Algorithm="http://www.w3.org/2009/xmlenc11#mgf1${hash}"/>` : '';
  const members =
    wish.methodMembers ?? (transport === 'rsa-1_5' ? '' : `<ds:DigestMethod Algorithm="${digests[hash]}"/>${mask}`);
  const encryptedKey = [
    `<xenc:EncryptedKey><xenc:EncryptionMethod Algorithm="${transports[transport]}">${members}</xenc:EncryptionMethod>`,
    `<xenc:CipherData><xenc:CipherValue>${wrapped}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedKey>`,
  ].join('');
  const value = encryptContent(text, key, wish).toString('base64');
  return [
    '<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"',
    ' xmlns:xenc="http://www.w3.org/2001/04/xmlenc#" xmlns:e11="http://www.w3.org/2009/xmlenc11#"',
    ' xmlns:ds="http://www.w3.org/2000/09/xmldsig#">',
    '<xenc:EncryptedData Type="http://www.w3.org/2001/04/xmlenc#Element">',
    `<xenc:EncryptionMethod Algorithm="${uri}"/>`,
    wish.keyBeside ? '' : `<ds:KeyInfo>${encryptedKey}</ds:KeyInfo>`,
    `<xenc:CipherData><xenc:CipherValue>${value}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedData>`,
    wish.keyBeside ? encryptedKey : '',
    '</saml:EncryptedAssertion>',
  ].join('');
}
