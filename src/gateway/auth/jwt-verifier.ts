import { hash, type KeyObject } from 'node:crypto';
import { hasDuplicateKeys } from '#base/duplicate-keys.ts';
import { loadJose } from '#base/lazy-packages.ts';
import { Lru } from '#base/lru.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { tryParseJson } from '#base/try-parse-json.ts';

export type JwtMembers = Readonly<Record<string, unknown>>;

/** A parsed JWT; verified where it comes from a `JwtVerifier`. */
export interface ParsedJwt {
  readonly header: JwtMembers;
  readonly algorithm: string;
  readonly kid: string | undefined;
  readonly claims: JwtMembers;
}

/** Malformed, algorithm not accepted, key unknown, or signature invalid. */
export type TokenFault = 'malformed' | 'method' | 'key' | 'signature';
export const isTokenFault = <T extends object>(value: T | TokenFault): value is TokenFault => typeof value === 'string';

/** Longer tokens are refused before parsing; they do not fit the default header limit. */
export const maxTokenChars = 16_384;

const threeParts = /^([\w-]+)\.([\w-]+)\.([\w-]*)$/;

/** Parses a token without verifying it. */
function parseJwt(text: string, accepted: ReadonlySet<string>): ParsedJwt | TokenFault {
  if (text.length > maxTokenChars) return 'malformed';
  const [, head, body] = threeParts.exec(text) ?? [];
  const header = head === undefined ? undefined : parseMembers(head);
  if (!header || typeof header.alg !== 'string') return 'malformed';
  if (!accepted.has(header.alg)) return 'method';
  // Critical extensions are not supported (RFC 7515, section 4.1.11).
  if ('crit' in header || 'b64' in header) return 'malformed';
  if ('kid' in header && typeof header.kid !== 'string') return 'malformed';
  const claims = parseMembers(body!);
  if (!claims || !hasValidClaimTypes(claims)) return 'malformed';
  return { header, algorithm: header.alg, kid: header.kid as string | undefined, claims };
}

/** Header or claims: a JSON object without duplicate members (RFC 7515, section 4). */
function parseMembers(part: string): JwtMembers | undefined {
  const text = Buffer.from(part, 'base64url').toString();
  const value = tryParseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value) || hasDuplicateKeys(text)) return undefined;
  return value as JwtMembers;
}

const textClaims = ['iss', 'sub', 'jti'] as const;
const timeClaims = ['exp', 'nbf', 'iat'] as const;

/** Types of registered claims (RFC 7519, section 4.1): a list of issuers is not an issuer. */
function hasValidClaimTypes(claims: JwtMembers): boolean {
  const { aud } = claims;
  return (
    textClaims.every(name => claims[name] === undefined || typeof claims[name] === 'string') &&
    timeClaims.every(name => claims[name] === undefined || Number.isFinite(claims[name])) &&
    (aud === undefined || typeof aud === 'string' || (Array.isArray(aud) && aud.every(it => typeof it === 'string')))
  );
}

/** The verification key of a token. */
export interface JwtSigner {
  readonly key: KeyObject;
}
export type FindJwtSigner<S extends JwtSigner> = (token: ParsedJwt) => MaybePromise<S | undefined>;

export interface VerifiedJwt<S extends JwtSigner> {
  /** The same object for the same text, so that sessions can be cached by it. */
  readonly token: ParsedJwt;
  readonly signer: S;
}

export interface JwtVerifier<S extends JwtSigner> {
  verify(text: string): MaybePromise<VerifiedJwt<S> | TokenFault>;
}

/** Verified tokens per API. */
const maxCachedTokens = 5000;

interface CachedJwt {
  readonly token: ParsedJwt;
  /** The key of the last verification; another key verifies again. */
  key: KeyObject | undefined;
}

/**
 * Verifies signatures. The key is looked up for every request, so that a revoked one stops working; the signature is
 * verified once per token and key.
 */
export function createJwtVerifier<S extends JwtSigner>(
  accepted: ReadonlySet<string>,
  findSigner: FindJwtSigner<S>,
  onError: (error: Error) => void,
): JwtVerifier<S> {
  const cache = new Lru<string, CachedJwt>(maxCachedTokens);
  const algorithms = [...accepted];

  function checkSigner(
    text: string,
    name: string,
    known: CachedJwt,
    signer: S | undefined,
  ): MaybePromise<VerifiedJwt<S> | TokenFault> {
    if (!signer) return 'key';
    const checked = { token: known.token, signer };
    if (known.key === signer.key) return checked;
    return isSignatureValid(text, signer.key).then(right => {
      if (!right) return 'signature';
      known.key = signer.key;
      cache.set(name, known);
      return checked;
    });
  }

  async function isSignatureValid(text: string, key: KeyObject): Promise<boolean> {
    try {
      await loadJose().compactVerify(text, key, { algorithms });
      return true;
    } catch (error) {
      // A key of another type than the token's algorithm is a TypeError: the signature is invalid then too.
      if (!(error instanceof loadJose().errors.JOSEError)) onError(error as Error);
      return false;
    }
  }

  return {
    verify(text) {
      if (text.length > maxTokenChars) return 'malformed';
      const name = hash('sha256', text, 'base64');
      let cached = cache.get(name);
      if (!cached) {
        const token = parseJwt(text, accepted);
        if (isTokenFault(token)) return token;
        cached = { token, key: undefined };
      }
      const entry = cached;
      const signer = findSigner(entry.token);
      return signer instanceof Promise
        ? signer.then(it => checkSigner(text, name, entry, it))
        : checkSigner(text, name, entry, signer);
    },
  };
}

export interface ClockSkews {
  readonly expiresAtSkewSeconds: number;
  readonly issuedAtSkewSeconds: number;
  readonly notBeforeSkewSeconds: number;
}

export type TimeFault = 'expired' | 'before_issued' | 'not_yet';

/** Checks `exp`, `iat` and `nbf` with their clock skews; absent claims pass. */
export function findTimeFault({ exp, iat, nbf }: JwtMembers, nowMs: number, skews: ClockSkews): TimeFault | undefined {
  const now = nowMs / 1000;
  if (exp !== undefined && now >= Number(exp) + skews.expiresAtSkewSeconds) return 'expired';
  if (iat !== undefined && now < Number(iat) - skews.issuedAtSkewSeconds) return 'before_issued';
  if (nbf !== undefined && now < Number(nbf) - skews.notBeforeSkewSeconds) return 'not_yet';
  return undefined;
}

/** A claim by its name, or by a dotted path. */
export function readClaim(claims: JwtMembers, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  if (!path.includes('.')) return undefined;
  let value: unknown = claims;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as JwtMembers)[name];
  }
  return value;
}

/** Scopes of the claims: space-separated strings or lists. */
export function readScopeClaims(claims: JwtMembers, paths: readonly string[]): string[] {
  return paths.flatMap(path => {
    const value = readClaim(claims, path);
    if (typeof value === 'string') return value.split(' ').filter(Boolean);
    return Array.isArray(value) ? value.filter((scope): scope is string => typeof scope === 'string') : [];
  });
}
