import { createPublicKey, createSecretKey, type KeyObject, type webcrypto, X509Certificate } from 'node:crypto';

/** Accepted signature algorithms come from the definition, never from the token (RFC 8725, section 3.1). */
export type KeyFamily = 'hmac' | 'rsa' | 'ecdsa' | 'eddsa';

interface FamilyRow {
  readonly algorithms: readonly string[];
  /** The `kty` of a JWK. */
  readonly kty: string;
  fits(key: KeyObject): boolean;
}

const curves = new Set(['prime256v1', 'secp384r1', 'secp521r1']);
/** RFC 7518, section 3.3. */
const minRsaBits = 2048;

const keyFamilies: Readonly<Record<KeyFamily, FamilyRow>> = {
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

/** hmac by default; undefined for an unknown name. */
export function parseFamily(signingMethod: string): KeyFamily | undefined {
  const name = signingMethod.trim().toLowerCase();
  if (name === '') return 'hmac';
  return Object.hasOwn(keyFamilies, name) ? (name as KeyFamily) : undefined;
}

export const listAlgorithms = (accepted: readonly KeyFamily[]): ReadonlySet<string> =>
  new Set(accepted.flatMap(family => keyFamilies[family].algorithms));

const looksLikePem = (text: string) => /-----\s*BEGIN/.test(text);

/**
 * Parses a shared secret, or a public key or certificate as PEM; undefined for a key of another family. A PEM is never a
 * shared secret: a published key must not verify HMAC (RFC 8725, section 2.1).
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
    // Not a key.
    return undefined;
  }
}

const wellFormed = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** The `source` of a definition: the URL of a key set, or the key itself. */
export type KeySource = { readonly url: string } | { readonly bytes: Buffer };

const address = /^https?:\/\//i;

/** A URL may be plain or base64, a key is always base64. */
export function parseKeySource(source: string): KeySource | undefined {
  const given = source.trim();
  if (address.test(given)) return { url: given };
  const packed = given.replaceAll(/\s/g, '');
  if (packed === '' || !wellFormed.test(packed)) return undefined;
  const bytes = Buffer.from(packed, 'base64');
  const text = bytes.toString();
  return address.test(text) ? { url: text.trim() } : { bytes };
}

/** A signature key of a key set. */
export interface VerificationKey {
  readonly kid: string | undefined;
  readonly family: KeyFamily;
  /** The `alg` of the JWK, where it has one. */
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
    // Public members only: private ones of a misconfigured set are not kept.
    return createPublicKey({ key: { kty, n, e, crv, x, y } as webcrypto.JsonWebKey, format: 'jwk' });
  } catch {
    return undefined;
  }
}

/** The key of the first certificate in `x5c`. */
function parseX5c({ x5c }: RawJwk): KeyObject | undefined {
  const first = Array.isArray(x5c) ? x5c[0] : undefined;
  if (typeof first !== 'string') return undefined;
  try {
    return new X509Certificate(Buffer.from(first, 'base64')).publicKey;
  } catch {
    return undefined;
  }
}
