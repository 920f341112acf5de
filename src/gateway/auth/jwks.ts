import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import { Lru } from '#base/lru.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { trimTrailingSlashes } from '#base/trim-slashes.ts';
import { type KeyFamily, parseJwk, type VerificationKey } from './jwt-keys.ts';

/** The keys somebody else publishes, kept and renewed. */
export interface KeySet {
  /** The key a token names. One that names none is understood where only one key could be meant. */
  find(asked: KeyQuery): MaybePromise<VerificationKey | undefined>;
}

export interface KeyQuery {
  readonly kid: string | undefined;
  readonly algorithm: string;
  readonly families: readonly KeyFamily[];
}

export interface JwksCache {
  /** Key sets are shared by all APIs that name the same address. */
  forUrl(url: string, ttlSeconds?: number): KeySet;
  /** The key set of an OpenID provider, which its discovery document names. */
  forIssuer(issuer: string): KeySet;
  /** Reads these anew when they are next asked for; all of them where none are named. */
  invalidate(sources?: JwksSources): void;
}

/** Whose keys a definition believes. */
export interface JwksSources {
  readonly urls: readonly string[];
  readonly issuers: readonly string[];
}

export interface JwksCacheOptions {
  readonly outbound: OutboundClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly ttlSeconds: number;
  /** How long a source is left alone after it was asked because of a key nobody knows, or did not answer. */
  readonly minRefreshSeconds: number;
}

const maxCachedSets = 1000;
const maxKeysPerSet = 200;
const maxSetBytes = 512 * 1024;
const fetchTimeoutMs = 5000;

interface KeySetState {
  readonly locate: () => Promise<string>;
  keys: readonly VerificationKey[] | undefined;
  /** The text the keys were read from: while it is the same, so are the keys. */
  text: string;
  loadedAtMs: number;
  triedAtMs: number;
  failed: boolean;
  loading: Promise<void> | undefined;
}

export function createJwksCache({
  outbound,
  clock,
  log,
  ttlSeconds,
  minRefreshSeconds: pauseSeconds,
}: JwksCacheOptions): JwksCache {
  const states = new Lru<string, KeySetState>(maxCachedSets);

  async function fetchText(url: string): Promise<string> {
    const { status, body } = await outbound.fetch({
      url,
      headers: { accept: 'application/json' },
      audience: 'operator',
      timeoutMs: fetchTimeoutMs,
      maxBytes: maxSetBytes,
    });
    if (status !== 200) throw new Error(`${url} answers ${status}`);
    return body.toString();
  }

  async function refresh(state: KeySetState): Promise<void> {
    state.triedAtMs = clock.now();
    try {
      const url = await state.locate();
      const text = await fetchText(url);
      if (state.keys === undefined || text !== state.text) state.keys = parseKeySet(text, state.keys ?? []);
      state.text = text;
      state.loadedAtMs = clock.now();
      state.failed = false;
    } catch (error) {
      // The last keys that were good go on being good while their source is away.
      state.failed = true;
      log.warn({ reason: (error as Error).message, kept: state.keys?.length ?? 0 }, 'a key set could not be read');
    }
  }

  const refreshOnce = (state: KeySetState): Promise<void> => {
    state.loading ??= refresh(state).finally(() => {
      state.loading = undefined;
    });
    return state.loading;
  };

  function find(state: KeySetState, ttlMs: number, asked: KeyQuery): MaybePromise<VerificationKey | undefined> {
    const now = clock.now();
    const mayRefresh = now - state.triedAtMs >= pauseSeconds * 1000;
    if (state.keys === undefined) {
      if (!mayRefresh && !state.loading) return undefined;
      return refreshOnce(state).then(() => selectKey(state.keys ?? [], asked));
    }
    const stale = now - state.loadedAtMs >= ttlMs;
    const known = selectKey(state.keys, asked);
    if (stale && mayRefresh) {
      const renewal = refreshOnce(state);
      // Nobody waits twice for a source that is away.
      if (!state.failed) return renewal.then(() => selectKey(state.keys!, asked));
    }
    // Whoever signs with a new key may be ahead of us; a set on its way is waited for, one more is asked for now and then.
    if (known || !(mayRefresh || state.loading)) return known;
    return refreshOnce(state).then(() => selectKey(state.keys!, asked));
  }

  function createKeySet(name: string, locate: KeySetState['locate'], ttlMs: number): KeySet {
    const getState = (): KeySetState => {
      const known = states.get(name);
      if (known) return known;
      const made: KeySetState = {
        locate,
        keys: undefined,
        text: '',
        loadedAtMs: 0,
        triedAtMs: Number.NEGATIVE_INFINITY,
        failed: false,
        loading: undefined,
      };
      states.set(name, made);
      return made;
    };
    return { find: asked => find(getState(), ttlMs, asked) };
  }

  return {
    invalidate(sources) {
      if (!sources) return states.clear();
      for (const url of sources.urls) states.delete(cacheKeys.url(url));
      for (const issuer of sources.issuers) states.delete(cacheKeys.issuer(issuer));
    },
    forUrl: (url, ttl = 0) => createKeySet(cacheKeys.url(url), async () => url, (ttl || ttlSeconds) * 1000),
    forIssuer: issuer =>
      createKeySet(
        cacheKeys.issuer(issuer),
        async () => parseDiscovery(issuer, await fetchText(toDiscoveryUrl(issuer))),
        ttlSeconds * 1000,
      ),
  };
}

const cacheKeys = { url: (url: string) => `url ${url}`, issuer: (issuer: string) => `issuer ${issuer}` };
const toDiscoveryUrl = (issuer: string) => `${trimTrailingSlashes(issuer)}/.well-known/openid-configuration`;

/** A document that speaks for another issuer could hand one provider's users to another. */
function parseDiscovery(issuer: string, text: string): string {
  const { issuer: said, jwks_uri: url } = JSON.parse(text) as { issuer?: unknown; jwks_uri?: unknown };
  if (said !== issuer) throw new Error(`the discovery document of ${issuer} speaks for another issuer`);
  if (typeof url !== 'string') throw new Error(`the discovery document of ${issuer} names no key set`);
  return url;
}

/** Keys that were there before stay the same objects: what was checked with them stays checked. */
function parseKeySet(text: string, before: readonly VerificationKey[]): VerificationKey[] {
  const { keys } = JSON.parse(text) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('it is not a key set');
  const read = keys.slice(0, maxKeysPerSet).flatMap(written => {
    const key = typeof written === 'object' && written !== null ? parseJwk(written) : undefined;
    return key ?? [];
  });
  return read.map(key => before.find(old => isSameKey(old, key)) ?? key);
}

const isSameKey = (one: VerificationKey, other: VerificationKey) =>
  one.kid === other.kid && one.alg === other.alg && one.family === other.family && one.key.equals(other.key);

function selectKey(
  keys: readonly VerificationKey[],
  { kid, algorithm, families }: KeyQuery,
): VerificationKey | undefined {
  const fitting = keys.filter(key => families.includes(key.family) && (key.alg === undefined || key.alg === algorithm));
  if (kid !== undefined) return fitting.find(key => key.kid === kid);
  return fitting.length === 1 ? fitting[0] : undefined;
}
