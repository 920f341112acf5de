import { createPublicKey, createSecretKey, type KeyObject, type webcrypto, X509Certificate } from 'node:crypto';

/** Which signatures a definition accepts. A token never has a say in this. */
export type KeyFamily = 'hmac' | 'rsa' | 'ecdsa' | 'eddsa';

interface FamilyRow {
  readonly algorithms: readonly string[];
  /** What a key of a key set says it is. */
  readonly kty: string;
  fits(key: KeyObject): boolean;
}

const curves = new Set(['prime256v1', 'secp384r1', 'secp521r1']);
/** Shorter RSA keys can be broken. */
const minRsaBits = 2048;

export const keyFamilies: Readonly<Record<KeyFamily, FamilyRow>> = {
  hmac: { algorithms: ['HS256', 'HS384', 'HS512'], kty: 'oct', fits: key => key.type === 'secret' },
  rsa: {
    algorithms: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
    kty: 'RSA',
    fits: key => key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= minRsaBits,
  },
  ecdsa: {
    algorithms: ['ES256', 'ES384', 'ES512'],
    kty: 'EC',
    fits: key => key.asymmetricKeyType === 'ec' && curves.has(key.asymmetricKeyDetails?.namedCurve ?? ''),
  },
  eddsa: { algorithms: ['EdDSA', 'Ed25519'], kty: 'OKP', fits: key => key.asymmetricKeyType === 'ed25519' },
};

/** The family a definition names; hmac where it names none, nothing where nobody knows the name. */
export function parseFamily(signingMethod: string): KeyFamily | undefined {
  const name = signingMethod.trim().toLowerCase();
  if (name === '') return 'hmac';
  return Object.hasOwn(keyFamilies, name) ? (name as KeyFamily) : undefined;
}

export const listAlgorithms = (accepted: readonly KeyFamily[]): ReadonlySet<string> =>
  new Set(accepted.flatMap(family => keyFamilies[family].algorithms));

const looksLikePem = (text: string) => /-----\s*BEGIN/.test(text);

/**
 * The key that bytes hold: a shared secret, or a public key or certificate as PEM. Nothing where they hold no key of the
 * family; above all, what was published can never be a shared secret.
 */
export function parseKey(family: KeyFamily, bytes: Buffer): KeyObject | undefined {
  const text = bytes.toString();
  if (family === 'hmac') return bytes.length === 0 || looksLikePem(text) ? undefined : createSecretKey(bytes);
  const key = parsePem(text) ?? parsePem(Buffer.from(text, 'base64').toString());
  return key && keyFamilies[family].fits(key) ? key : undefined;
}

function parsePem(pem: string): KeyObject | undefined {
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
export type KeySource = { readonly url: string } | { readonly bytes: Buffer };

const address = /^https?:\/\//i;

/** The address of a key set stands as it is or in base64; a key always in base64. */
export function parseKeySource(source: string): KeySource | undefined {
  const given = source.trim();
  if (address.test(given)) return { url: given };
  const packed = given.replaceAll(/\s/g, '');
  if (packed === '' || !wellFormed.test(packed)) return undefined;
  const bytes = Buffer.from(packed, 'base64');
  const text = bytes.toString();
  return address.test(text) ? { url: text.trim() } : { bytes };
}

/** One key of a key set; nothing for one that is no signature key, or none we know. */
export interface VerificationKey {
  readonly kid: string | undefined;
  readonly family: KeyFamily;
  /** The only algorithm it is for, where it says so. */
  readonly alg: string | undefined;
  readonly key: KeyObject;
}

type RawJwk = webcrypto.JsonWebKey & { kid?: unknown; x5c?: unknown };

export function parseJwk(written: RawJwk): VerificationKey | undefined {
  const family = (Object.keys(keyFamilies) as KeyFamily[]).find(it => keyFamilies[it].kty === written.kty);
  if (!family || (written.use !== undefined && written.use !== 'sig')) return undefined;
  const key = family === 'hmac' ? parseSecret(written) : (parsePublicJwk(written) ?? parseX5c(written));
  if (!key || !keyFamilies[family].fits(key)) return undefined;
  const kid = typeof written.kid === 'string' ? written.kid : undefined;
  return { kid, family, alg: typeof written.alg === 'string' ? written.alg : undefined, key };
}

const parseSecret = ({ k }: RawJwk) =>
  typeof k === 'string' && k !== '' ? createSecretKey(Buffer.from(k, 'base64url')) : undefined;

function parsePublicJwk({ kty, n, e, crv, x, y }: RawJwk): KeyObject | undefined {
  try {
    // Only the public members: a set that holds private ones must not make us keep them.
    return createPublicKey({ key: { kty, n, e, crv, x, y } as webcrypto.JsonWebKey, format: 'jwk' });
  } catch {
    return undefined;
  }
}

/** Some sets hold a certificate only. */
function parseX5c({ x5c }: RawJwk): KeyObject | undefined {
  const first = Array.isArray(x5c) ? x5c[0] : undefined;
  if (typeof first !== 'string') return undefined;
  try {
    return new X509Certificate(Buffer.from(first, 'base64')).publicKey;
  } catch {
    return undefined;
  }
}
