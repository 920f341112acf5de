import { createPublicKey, createSecretKey, type KeyObject, type webcrypto, X509Certificate } from 'node:crypto';

/** Which signatures a definition accepts. A token never has a say in this. */
export type Family = 'hmac' | 'rsa' | 'ecdsa' | 'eddsa';

interface FamilyRow {
  readonly algorithms: readonly string[];
  /** What a key of a key set says it is. */
  readonly kty: string;
  fits(key: KeyObject): boolean;
}

const curves = new Set(['prime256v1', 'secp384r1', 'secp521r1']);
/** Shorter RSA keys can be broken. */
const leastRsaBits = 2048;

export const families: Readonly<Record<Family, FamilyRow>> = {
  hmac: { algorithms: ['HS256', 'HS384', 'HS512'], kty: 'oct', fits: key => key.type === 'secret' },
  rsa: {
    algorithms: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
    kty: 'RSA',
    fits: key => key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= leastRsaBits,
  },
  ecdsa: {
    algorithms: ['ES256', 'ES384', 'ES512'],
    kty: 'EC',
    fits: key => key.asymmetricKeyType === 'ec' && curves.has(key.asymmetricKeyDetails?.namedCurve ?? ''),
  },
  eddsa: { algorithms: ['EdDSA', 'Ed25519'], kty: 'OKP', fits: key => key.asymmetricKeyType === 'ed25519' },
};

/** The family a definition names; hmac where it names none, nothing where nobody knows the name. */
export function familyOf(signingMethod: string): Family | undefined {
  const name = signingMethod.trim().toLowerCase();
  if (name === '') return 'hmac';
  return Object.hasOwn(families, name) ? (name as Family) : undefined;
}

export const algorithmsOf = (accepted: readonly Family[]): ReadonlySet<string> =>
  new Set(accepted.flatMap(family => families[family].algorithms));

const looksLikePem = (text: string) => /-----\s*BEGIN/.test(text);

/**
 * The key that bytes hold: a shared secret, or a public key or certificate as PEM. Nothing where they hold no key of the
 * family; above all, what was published can never be a shared secret.
 */
export function keyOfBytes(family: Family, bytes: Buffer): KeyObject | undefined {
  const text = bytes.toString();
  if (family === 'hmac') return bytes.length === 0 || looksLikePem(text) ? undefined : createSecretKey(bytes);
  const key = publicKeyOf(text) ?? publicKeyOf(Buffer.from(text, 'base64').toString());
  return key && families[family].fits(key) ? key : undefined;
}

function publicKeyOf(pem: string): KeyObject | undefined {
  if (!looksLikePem(pem)) return undefined;
  try {
    return /BEGIN CERTIFICATE/.test(pem) ? new X509Certificate(pem).publicKey : createPublicKey(pem);
  } catch {
    // Whatever else it is, it is no key.
    return undefined;
  }
}

const wellFormed = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** What a definition's `source` says: where a key set is, or the key itself. */
export type SourceRead = { readonly url: string } | { readonly bytes: Buffer };

const address = /^https?:\/\//i;

/** The address of a key set stands as it is or in base64; a key always in base64. */
export function readSource(source: string): SourceRead | undefined {
  const given = source.trim();
  if (address.test(given)) return { url: given };
  const packed = given.replaceAll(/\s/g, '');
  if (packed === '' || !wellFormed.test(packed)) return undefined;
  const bytes = Buffer.from(packed, 'base64');
  const text = bytes.toString();
  return address.test(text) ? { url: text.trim() } : { bytes };
}

/** One key of a key set; nothing for one that is no signature key, or none we know. */
export interface SetKey {
  readonly kid: string | undefined;
  readonly family: Family;
  /** The only algorithm it is for, where it says so. */
  readonly alg: string | undefined;
  readonly key: KeyObject;
}

type WrittenKey = webcrypto.JsonWebKey & { kid?: unknown; x5c?: unknown };

export function setKeyOf(written: WrittenKey): SetKey | undefined {
  const family = (Object.keys(families) as Family[]).find(it => families[it].kty === written.kty);
  if (!family || (written.use !== undefined && written.use !== 'sig')) return undefined;
  const key = family === 'hmac' ? secretOf(written) : (publicOf(written) ?? certified(written));
  if (!key || !families[family].fits(key)) return undefined;
  const kid = typeof written.kid === 'string' ? written.kid : undefined;
  return { kid, family, alg: typeof written.alg === 'string' ? written.alg : undefined, key };
}

const secretOf = ({ k }: WrittenKey) =>
  typeof k === 'string' && k !== '' ? createSecretKey(Buffer.from(k, 'base64url')) : undefined;

function publicOf({ kty, n, e, crv, x, y }: WrittenKey): KeyObject | undefined {
  try {
    // Only the public members: a set that holds private ones must not make us keep them.
    return createPublicKey({ key: { kty, n, e, crv, x, y } as webcrypto.JsonWebKey, format: 'jwk' });
  } catch {
    return undefined;
  }
}

/** Some sets hold a certificate only. */
function certified({ x5c }: WrittenKey): KeyObject | undefined {
  const first = Array.isArray(x5c) ? x5c[0] : undefined;
  if (typeof first !== 'string') return undefined;
  try {
    return new X509Certificate(Buffer.from(first, 'base64')).publicKey;
  } catch {
    return undefined;
  }
}
