import { hash, type KeyObject } from 'node:crypto';
import { compactVerify, errors } from 'jose';
import { hasDuplicateKeys } from '#base/duplicate-keys.ts';
import { Lru } from '#base/lru.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';

export type JwtMembers = Readonly<Record<string, unknown>>;

/** A token as it was written; whoever holds one from `TokenCheck` knows that its signature is right. */
export interface ParsedJwt {
  readonly header: JwtMembers;
  readonly algorithm: string;
  readonly kid: string | undefined;
  readonly claims: JwtMembers;
}

/** Why a text is no token: not one at all, signed in a way not accepted, by a key nobody knows, or by somebody else. */
export type TokenFault = 'malformed' | 'method' | 'key' | 'signature';
export const isTokenFault = <T extends object>(value: T | TokenFault): value is TokenFault => typeof value === 'string';

/** No token that fits a head of usual size is longer. What is longer is refused before it is looked at. */
export const maxTokenChars = 16_384;

const threeParts = /^([\w-]+)\.([\w-]+)\.([\w-]*)$/;

/** Reads a token without believing it. */
export function parseJwt(text: string, accepted: ReadonlySet<string>): ParsedJwt | TokenFault {
  if (text.length > maxTokenChars) return 'malformed';
  const [, head, body] = threeParts.exec(text) ?? [];
  const header = head === undefined ? undefined : parseMembers(head);
  if (!header || typeof header.alg !== 'string') return 'malformed';
  if (!accepted.has(header.alg)) return 'method';
  // An extension that must be understood is not: none is known here.
  if ('crit' in header || 'b64' in header) return 'malformed';
  if ('kid' in header && typeof header.kid !== 'string') return 'malformed';
  const claims = parseMembers(body!);
  if (!claims || !hasValidClaimTypes(claims)) return 'malformed';
  return { header, algorithm: header.alg, kid: header.kid as string | undefined, claims };
}

/** A part of a token: one object, none of whose members comes twice. */
function parseMembers(part: string): JwtMembers | undefined {
  const text = Buffer.from(part, 'base64url').toString();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || hasDuplicateKeys(text)) return undefined;
  return value as JwtMembers;
}

const textClaims = ['iss', 'sub', 'jti'] as const;
const timeClaims = ['exp', 'nbf', 'iat'] as const;

/** Claims whose meaning is fixed have the type they must have: a list of issuers is not an issuer. */
function hasValidClaimTypes(claims: JwtMembers): boolean {
  const { aud } = claims;
  return (
    textClaims.every(name => claims[name] === undefined || typeof claims[name] === 'string') &&
    timeClaims.every(name => claims[name] === undefined || Number.isFinite(claims[name])) &&
    (aud === undefined || typeof aud === 'string' || (Array.isArray(aud) && aud.every(it => typeof it === 'string')))
  );
}

/** The key that must have signed a token, and whatever else was found with it. */
export interface JwtSigner {
  readonly key: KeyObject;
}
export type FindJwtSigner<S extends JwtSigner> = (token: ParsedJwt) => MaybePromise<S | undefined>;

export interface VerifiedJwt<S extends JwtSigner> {
  /** The same object for the same text, so that more can be remembered with it. */
  readonly token: ParsedJwt;
  readonly signer: S;
}

export interface JwtVerifier<S extends JwtSigner> {
  verify(text: string): MaybePromise<VerifiedJwt<S> | TokenFault>;
}

/** Tokens one API remembers to be rightly signed. */
const maxCachedTokens = 5000;

interface CachedJwt {
  readonly token: ParsedJwt;
  /** What it was checked with: another key, another check. */
  key: KeyObject | undefined;
}

/**
 * Checks signatures. The key is looked for at every call, so that one that was withdrawn counts no more; the signature
 * is checked once for each token and key.
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
      await compactVerify(text, key, { algorithms });
      return true;
    } catch (error) {
      // A key of another kind than the token says is a type error there; all of it means that this key did not sign it.
      if (!(error instanceof errors.JOSEError)) onError(error as Error);
      return false;
    }
  }

  return {
    verify(text) {
      if (text.length > maxTokenChars) return 'malformed';
      const name = hash('sha256', text, 'base64');
      let known = cache.get(name);
      if (!known) {
        const token = parseJwt(text, accepted);
        if (isTokenFault(token)) return token;
        known = { token, key: undefined };
      }
      const found = known;
      const signer = findSigner(found.token);
      return signer instanceof Promise
        ? signer.then(it => checkSigner(text, name, found, it))
        : checkSigner(text, name, found, signer);
    },
  };
}

export interface ClockSkews {
  readonly expiresAtSkewSeconds: number;
  readonly issuedAtSkewSeconds: number;
  readonly notBeforeSkewSeconds: number;
}

export type TimeFault = 'expired' | 'before_issued' | 'not_yet';

/** Whether this is the time to use a token. A time it does not name does not matter. */
export function findTimeFault({ exp, iat, nbf }: JwtMembers, nowMs: number, skews: ClockSkews): TimeFault | undefined {
  const now = nowMs / 1000;
  if (exp !== undefined && now >= Number(exp) + skews.expiresAtSkewSeconds) return 'expired';
  if (iat !== undefined && now < Number(iat) - skews.issuedAtSkewSeconds) return 'before_issued';
  if (nbf !== undefined && now < Number(nbf) - skews.notBeforeSkewSeconds) return 'not_yet';
  return undefined;
}

/** A claim by its own name, or by a path of names with dots between them. */
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

/** Scopes as tokens write them: one text with spaces, or a list. */
export function readScopeClaims(claims: JwtMembers, paths: readonly string[]): string[] {
  return paths.flatMap(path => {
    const value = readClaim(claims, path);
    if (typeof value === 'string') return value.split(' ').filter(Boolean);
    return Array.isArray(value) ? value.filter((scope): scope is string => typeof scope === 'string') : [];
  });
}
