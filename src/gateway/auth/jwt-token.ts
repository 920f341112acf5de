import { hash, type KeyObject } from 'node:crypto';
import { compactVerify, errors } from 'jose';
import { hasDuplicateKeys } from '#base/duplicate-keys.ts';
import { Lru } from '#base/lru.ts';
import type { MaybePromise } from '../pipeline/step.ts';

export type Members = Readonly<Record<string, unknown>>;

/** A token as it was written; whoever holds one from `TokenCheck` knows that its signature is right. */
export interface Token {
  readonly header: Members;
  readonly algorithm: string;
  readonly kid: string | undefined;
  readonly claims: Members;
}

/** Why a text is no token: not one at all, signed in a way not accepted, by a key nobody knows, or by somebody else. */
export type TokenFault = 'malformed' | 'method' | 'key' | 'signature';
export const isFault = <T extends object>(value: T | TokenFault): value is TokenFault => typeof value === 'string';

/** No token that fits a head of usual size is longer. What is longer is refused before it is looked at. */
export const longestToken = 16_384;

const threeParts = /^([\w-]+)\.([\w-]+)\.([\w-]*)$/;

/** Reads a token without believing it. */
export function readToken(text: string, accepted: ReadonlySet<string>): Token | TokenFault {
  if (text.length > longestToken) return 'malformed';
  const [, head, body] = threeParts.exec(text) ?? [];
  const header = head === undefined ? undefined : membersOf(head);
  if (!header || typeof header.alg !== 'string') return 'malformed';
  if (!accepted.has(header.alg)) return 'method';
  // An extension that must be understood is not: none is known here.
  if ('crit' in header || 'b64' in header) return 'malformed';
  if ('kid' in header && typeof header.kid !== 'string') return 'malformed';
  const claims = membersOf(body!);
  if (!claims || !hasSoundClaims(claims)) return 'malformed';
  return { header, algorithm: header.alg, kid: header.kid as string | undefined, claims };
}

/** A part of a token: one object, none of whose members comes twice. */
function membersOf(part: string): Members | undefined {
  const text = Buffer.from(part, 'base64url').toString();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || hasDuplicateKeys(text)) return undefined;
  return value as Members;
}

const texts = ['iss', 'sub', 'jti'] as const;
const times = ['exp', 'nbf', 'iat'] as const;

/** Claims whose meaning is fixed have the type they must have: a list of issuers is not an issuer. */
function hasSoundClaims(claims: Members): boolean {
  const { aud } = claims;
  return (
    texts.every(name => claims[name] === undefined || typeof claims[name] === 'string') &&
    times.every(name => claims[name] === undefined || Number.isFinite(claims[name])) &&
    (aud === undefined || typeof aud === 'string' || (Array.isArray(aud) && aud.every(it => typeof it === 'string')))
  );
}

/** The key that must have signed a token, and whatever else was found with it. */
export interface Signer {
  readonly key: KeyObject;
}
export type FindSigner<S extends Signer> = (token: Token) => MaybePromise<S | undefined>;

export interface Checked<S extends Signer> {
  /** The same object for the same text, so that more can be remembered with it. */
  readonly token: Token;
  readonly signer: S;
}

export interface TokenCheck<S extends Signer> {
  check(text: string): MaybePromise<Checked<S> | TokenFault>;
}

/** Tokens one API remembers to be rightly signed. */
const tokensKept = 5000;

interface Seen {
  readonly token: Token;
  /** What it was checked with: another key, another check. */
  key: KeyObject | undefined;
}

/**
 * Checks signatures. The key is looked for at every call, so that one that was withdrawn counts no more; the signature
 * is checked once for each token and key.
 */
export function tokenCheck<S extends Signer>(
  accepted: ReadonlySet<string>,
  signerOf: FindSigner<S>,
  onBroken: (error: Error) => void,
): TokenCheck<S> {
  const seen = new Lru<string, Seen>(tokensKept);
  const algorithms = [...accepted];

  function signed(
    text: string,
    name: string,
    known: Seen,
    signer: S | undefined,
  ): MaybePromise<Checked<S> | TokenFault> {
    if (!signer) return 'key';
    const checked = { token: known.token, signer };
    if (known.key === signer.key) return checked;
    return verified(text, signer.key).then(right => {
      if (!right) return 'signature';
      known.key = signer.key;
      seen.set(name, known);
      return checked;
    });
  }

  async function verified(text: string, key: KeyObject): Promise<boolean> {
    try {
      await compactVerify(text, key, { algorithms });
      return true;
    } catch (error) {
      // A key of another kind than the token says is a type error there; all of it means that this key did not sign it.
      if (!(error instanceof errors.JOSEError)) onBroken(error as Error);
      return false;
    }
  }

  return {
    check(text) {
      if (text.length > longestToken) return 'malformed';
      const name = hash('sha256', text, 'base64');
      let known = seen.get(name);
      if (!known) {
        const token = readToken(text, accepted);
        if (isFault(token)) return token;
        known = { token, key: undefined };
      }
      const found = known;
      const signer = signerOf(found.token);
      return signer instanceof Promise
        ? signer.then(it => signed(text, name, found, it))
        : signed(text, name, found, signer);
    },
  };
}

export interface Skews {
  readonly expiresAtSkewSeconds: number;
  readonly issuedAtSkewSeconds: number;
  readonly notBeforeSkewSeconds: number;
}

export type TimeFault = 'expired' | 'before_issued' | 'not_yet';

/** Whether this is the time to use a token. A time it does not name does not matter. */
export function timeFault({ exp, iat, nbf }: Members, nowMs: number, skews: Skews): TimeFault | undefined {
  const now = nowMs / 1000;
  if (exp !== undefined && now >= Number(exp) + skews.expiresAtSkewSeconds) return 'expired';
  if (iat !== undefined && now < Number(iat) - skews.issuedAtSkewSeconds) return 'before_issued';
  if (nbf !== undefined && now < Number(nbf) - skews.notBeforeSkewSeconds) return 'not_yet';
  return undefined;
}

/** A claim by its own name, or by a path of names with dots between them. */
export function claimAt(claims: Members, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  if (!path.includes('.')) return undefined;
  let value: unknown = claims;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Members)[name];
  }
  return value;
}

/** Scopes as tokens write them: one text with spaces, or a list. */
export function scopesIn(claims: Members, paths: readonly string[]): string[] {
  return paths.flatMap(path => {
    const value = claimAt(claims, path);
    if (typeof value === 'string') return value.split(' ').filter(Boolean);
    return Array.isArray(value) ? value.filter((scope): scope is string => typeof scope === 'string') : [];
  });
}
