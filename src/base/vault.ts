import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { problems } from './problems.ts';

/**
 * Envelope encryption of secrets at rest. The database holds one data key, wrapped under a master key outside it;
 * subkeys of the data key seal secrets and compute the keyed hashes for lookup. Rotating the master key rewraps 32
 * bytes, not every secret.
 */
export interface Vault {
  /** Encrypts; the purpose is authenticated, so that a secret opens for its own purpose only. */
  seal(text: string, purpose: string): string;
  open(sealed: string, purpose: string): string;
  /** Keyed hash (hexadecimal) for lookup without storing the secret. */
  digest(text: string, purpose: string): string;
}

export const vaultProblem = problems('vault', {
  wrong_master_key: {
    status: 500,
    message: 'The master key cannot decrypt the data key: it is not the master key of this database',
  },
  weak_master_key: {
    status: 500,
    message: 'The master key must be 32 bytes or more in base64 or hexadecimal, or a text of 32 characters or more',
  },
  cannot_open: {
    status: 500,
    message: 'A stored secret ({purpose}) cannot be decrypted: it was changed, or encrypted with another key',
  },
});

export const keyBytes = 32;
const minMasterKeyCharacters = 32;
const version = 'v1.';
const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

export function createDataKey(): Buffer {
  return randomBytes(keyBytes);
}

export function wrapDataKey(dataKey: Buffer, masterKey: Buffer): string {
  return encrypt(dataKey, deriveSubkey(masterKey, 'wrap'), 'data-key');
}

export function unwrapDataKey(wrapped: string, masterKey: Buffer): Buffer {
  const dataKey = decrypt(wrapped, deriveSubkey(masterKey, 'wrap'), 'data-key');
  if (dataKey?.length !== keyBytes) throw vaultProblem.wrong_master_key();
  return dataKey;
}

export function createVault(dataKey: Buffer): Vault {
  const sealKey = deriveSubkey(dataKey, 'seal');
  const digestKey = deriveSubkey(dataKey, 'digest');
  return {
    seal: (text, purpose) => encrypt(Buffer.from(text, 'utf8'), sealKey, purpose),
    open(sealed, purpose) {
      const plain = decrypt(sealed, sealKey, purpose);
      if (plain === undefined) throw vaultProblem.cannot_open({ detail: { purpose } });
      return plain.toString('utf8');
    },
    // The length keeps ('ab', 'c') and ('a', 'bc') apart.
    digest: (text, purpose) =>
      createHmac('sha256', digestKey).update(`${purpose.length}:${purpose}:${text}`).digest('hex'),
  };
}

/**
 * Parses the master key: 32 bytes or more as base64, base64url or hexadecimal, or a passphrase. Exactly 32 bytes are
 * used directly; anything else goes through HKDF.
 */
export function parseMasterKey(text: string): Buffer {
  const given = text.trim();
  const bytes = decodeKeyBytes(given);
  if (bytes?.length === keyBytes) return bytes;
  if (bytes) return deriveSubkey(bytes, 'master');
  if ([...given].length < minMasterKeyCharacters) throw vaultProblem.weak_master_key();
  return deriveSubkey(Buffer.from(given, 'utf8'), 'master');
}

function decodeKeyBytes(text: string): Buffer | undefined {
  const encoding = /^([0-9a-f]{2})+$/i.test(text) ? 'hex' : /^[\w+/-]+={0,2}$/.test(text) ? 'base64' : undefined;
  const bytes = encoding && Buffer.from(text, encoding);
  return bytes && bytes.length >= keyBytes ? bytes : undefined;
}

function deriveSubkey(key: Buffer, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `gatewright/${use}/v1`, keyBytes));
}

function encrypt(plain: Buffer, key: Buffer, purpose: string): string {
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(purpose, 'utf8'));
  const body = Buffer.concat([nonce, sealing.update(plain), sealing.final(), sealing.getAuthTag()]);
  return version + body.toString('base64url');
}

function decrypt(sealed: string, key: Buffer, purpose: string): Buffer | undefined {
  if (!sealed.startsWith(version)) return undefined;
  const body = Buffer.from(sealed.slice(version.length), 'base64url');
  if (body.length < nonceBytes + tagBytes) return undefined;
  const opening = createDecipheriv(cipher, key, body.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(purpose, 'utf8'))
    .setAuthTag(body.subarray(-tagBytes));
  const plain = opening.update(body.subarray(nonceBytes, -tagBytes));
  try {
    return Buffer.concat([plain, opening.final()]);
  } catch {
    // Authentication failed. A more precise reason would only help a forger.
    return undefined;
  }
}
