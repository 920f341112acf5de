import type { KeyObject } from 'node:crypto';
import { Lru } from '#base/lru.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { parseDurationMs } from '#definition/duration.ts';
import type { Model } from '#definition/model.ts';
import { expandRequirements } from '#definition/security-requirements.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import type { JwksSources, KeySet } from './jwks.ts';
import { type KeyFamily, listAlgorithms, parseFamily, parseKey, parseKeySource } from './jwt-keys.ts';
import type { FindJwtSigner, JwtSigner, ParsedJwt } from './jwt-verifier.ts';
import type { CachedKey } from './key-cache.ts';
import type { AuthServices } from './services.ts';

/** Finds the verification key of a token. */
export interface JwtSigners<S extends JwtSigner = JwtSigner> {
  readonly accepted: ReadonlySet<string>;
  readonly find: FindJwtSigner<S>;
}

export interface KeySourceSettings {
  readonly signingMethod: string;
  readonly source: string;
  readonly keySets?: readonly { readonly url: string; readonly cacheTimeout: string | number }[];
}

function requireFamily(signingMethod: string): KeyFamily {
  const family = parseFamily(signingMethod);
  if (!family) throw new ApiCompileError(`the signing method ${signingMethod} is unknown`);
  return family;
}

/** One key source for all clients: a static key or key sets. */
export function createSharedSigners(
  { signingMethod, source, keySets = [] }: KeySourceSettings,
  services: Pick<AuthServices, 'jwks'>,
): JwtSigners {
  const family = requireFamily(signingMethod);
  const accepted = listAlgorithms([family]);
  if (keySets.length > 0) {
    const sets = keySets.map(({ url, cacheTimeout }) => services.jwks.forUrl(url, toSeconds(cacheTimeout)));
    return { accepted, find: token => findFirst(sets, token, family, 0) };
  }
  const read = parseKeySource(source);
  if (!read) throw new ApiCompileError('the JWT key source is neither a URL nor base64');
  if ('url' in read) {
    const set = services.jwks.forUrl(read.url);
    return { accepted, find: token => findFirst([set], token, family, 0) };
  }
  const key = parseKey(family, read.bytes);
  if (!key) throw new ApiCompileError(`the JWT key source contains no ${family} key`);
  const signer: JwtSigner = { key };
  return { accepted, find: () => signer };
}

/** All key sets that a definition references. */
export function listKeySources(model: Model): JwksSources {
  const all = expandRequirements(model).map(listModelSources);
  return { urls: all.flatMap(({ urls }) => urls), issuers: all.flatMap(({ issuers }) => issuers) };
}

function listModelSources({ jwt, externalOAuth, oidc }: Model): JwksSources {
  const sources = [jwt.source, ...externalOAuth.providers.map(it => it.source)].map(parseKeySource);
  const urls = sources.flatMap(read => (read && 'url' in read ? [read.url] : []));
  return {
    urls: [...urls, ...jwt.keySets.map(({ url }) => url)],
    issuers: oidc.providers.map(({ issuer }) => issuer),
  };
}

const toSeconds = (written: string | number) =>
  typeof written === 'number' ? written : Math.floor((parseDurationMs(written) ?? 0) / 1000);

function findFirst(
  sets: readonly KeySet[],
  token: ParsedJwt,
  family: KeyFamily,
  from: number,
): MaybePromise<JwtSigner | undefined> {
  const set = sets[from];
  if (!set) return undefined;
  const key = set.find({ kid: token.kid, algorithm: token.algorithm, families: [family] });
  if (key instanceof Promise) return key.then(it => it ?? findFirst(sets, token, family, from + 1));
  return key ?? findFirst(sets, token, family, from + 1);
}

/** A stored key with the secret or public key of its tokens. */
export interface KeySigner extends JwtSigner {
  readonly known: CachedKey;
}

const maxCachedSecrets = 5000;

/** One key source per stored key. `readKeyName` reads the key id from the token. */
export function createKeySigners(
  signingMethod: string,
  orgId: string,
  readKeyName: (token: ParsedJwt) => string,
  { keyCache }: Pick<AuthServices, 'keyCache'>,
): JwtSigners<KeySigner> {
  const family = requireFamily(signingMethod);
  /** The same key object for the same text: verified tokens are cached by it. */
  const keys = new Lru<string, KeyObject>(maxCachedSecrets);

  function getKeyObject(secret: string): KeyObject | undefined {
    const cached = keys.get(secret);
    if (cached) return cached;
    const key = parseKey(family, Buffer.from(secret));
    if (key) keys.set(secret, key);
    return key;
  }

  function toSigner(known: CachedKey | undefined): KeySigner | undefined {
    const key = known?.session.jwtSecret === undefined ? undefined : getKeyObject(known.session.jwtSecret);
    return known && key && { known, key };
  }

  return {
    accepted: listAlgorithms([family]),
    find(token) {
      const key = keyCache.find(orgId, readKeyName(token));
      return key instanceof Promise ? key.then(toSigner) : toSigner(key);
    },
  };
}
