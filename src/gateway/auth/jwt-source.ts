import type { KeyObject } from 'node:crypto';
import { Lru } from '#base/lru.ts';
import { parseDurationMs } from '#definition/duration.ts';
import type { Model } from '#definition/model.ts';
import { expandRequirements } from '#definition/security-requirements.ts';
import type { MaybePromise } from '../pipeline/step.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import type { KeySet, KeySources } from './jwks.ts';
import { algorithmsOf, type Family, familyOf, keyOfBytes, readSource } from './jwt-keys.ts';
import type { FindSigner, Signer, Token } from './jwt-token.ts';
import type { KnownKey } from './key-cache.ts';

/** Who may have signed the tokens of an API, as its definition says. */
export interface Signers<S extends Signer = Signer> {
  readonly accepted: ReadonlySet<string>;
  readonly find: FindSigner<S>;
}

export interface SourceWritten {
  readonly signingMethod: string;
  readonly source: string;
  readonly keySets?: readonly { readonly url: string; readonly cacheTimeout: string | number }[];
}

export function familyNamed(signingMethod: string): Family {
  const family = familyOf(signingMethod);
  if (!family) throw new ApiCompileError(`the gateway does not know the signing method ${signingMethod}`);
  return family;
}

/** One source for all callers: a key of the definition's own, or what others publish. */
export function centralSigners(
  { signingMethod, source, keySets = [] }: SourceWritten,
  services: StepServices,
): Signers {
  const family = familyNamed(signingMethod);
  const accepted = algorithmsOf([family]);
  if (keySets.length > 0) {
    const sets = keySets.map(({ url, cacheTimeout }) => services.jwks.at(url, secondsOf(cacheTimeout)));
    return { accepted, find: token => firstOf(sets, token, family, 0) };
  }
  const read = readSource(source);
  if (!read) throw new ApiCompileError('the source of its token keys is neither an address nor base64');
  if ('url' in read) {
    const set = services.jwks.at(read.url);
    return { accepted, find: token => firstOf([set], token, family, 0) };
  }
  const key = keyOfBytes(family, read.bytes);
  if (!key) throw new ApiCompileError(`the source of its token keys holds no ${family} key`);
  const signer: Signer = { key };
  return { accepted, find: () => signer };
}

/** The key sets of others that a definition names, wherever it names them. */
export function keySourcesOf(model: Model): KeySources {
  const all = expandRequirements(model).map(keySourcesIn);
  return { urls: all.flatMap(({ urls }) => urls), issuers: all.flatMap(({ issuers }) => issuers) };
}

function keySourcesIn({ jwt, externalOAuth, oidc }: Model): KeySources {
  const sources = [jwt.source, ...externalOAuth.providers.map(it => it.source)].map(readSource);
  const urls = sources.flatMap(read => (read && 'url' in read ? [read.url] : []));
  return {
    urls: [...urls, ...jwt.keySets.map(({ url }) => url)],
    issuers: oidc.providers.map(({ issuer }) => issuer),
  };
}

const secondsOf = (written: string | number) =>
  typeof written === 'number' ? written : Math.floor((parseDurationMs(written) ?? 0) / 1000);

function firstOf(
  sets: readonly KeySet[],
  token: Token,
  family: Family,
  from: number,
): MaybePromise<Signer | undefined> {
  const set = sets[from];
  if (!set) return undefined;
  const found = set.find({ kid: token.kid, algorithm: token.algorithm, families: [family] });
  if (found instanceof Promise) return found.then(it => it ?? firstOf(sets, token, family, from + 1));
  return found ?? firstOf(sets, token, family, from + 1);
}

/** The caller's own key, which names what its tokens are signed with. */
export interface OwnSigner extends Signer {
  readonly known: KnownKey;
}

const secretsKept = 5000;

/** Each caller has a source of their own. `nameOf` says which key a token means. */
export function ownSigners(
  signingMethod: string,
  orgId: string,
  nameOf: (token: Token) => string,
  { keyCache }: Pick<StepServices, 'keyCache'>,
): Signers<OwnSigner> {
  const family = familyNamed(signingMethod);
  /** The same text gives the same key object, so that what was checked with it stays checked. */
  const keys = new Lru<string, KeyObject>(secretsKept);

  function keyOf(secret: string): KeyObject | undefined {
    const known = keys.get(secret);
    if (known) return known;
    const made = keyOfBytes(family, Buffer.from(secret));
    if (made) keys.set(secret, made);
    return made;
  }

  function signerOf(known: KnownKey | undefined): OwnSigner | undefined {
    const key = known?.session.jwtSecret === undefined ? undefined : keyOf(known.session.jwtSecret);
    return known && key && { known, key };
  }

  return {
    accepted: algorithmsOf([family]),
    find(token) {
      const found = keyCache.find(orgId, nameOf(token));
      return found instanceof Promise ? found.then(signerOf) : signerOf(found);
    },
  };
}
