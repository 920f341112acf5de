import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import { Lru } from '#base/lru.ts';
import { trimTrailingSlashes } from '#base/trim-slashes.ts';
import type { MaybePromise } from '../pipeline/step.ts';
import { type Family, type SetKey, setKeyOf } from './jwt-keys.ts';

/** The keys somebody else publishes, kept and renewed. */
export interface KeySet {
  /** The key a token names. One that names none is understood where only one key could be meant. */
  find(asked: AskedKey): MaybePromise<SetKey | undefined>;
}

export interface AskedKey {
  readonly kid: string | undefined;
  readonly algorithm: string;
  readonly families: readonly Family[];
}

export interface KeySets {
  /** Key sets are shared by all APIs that name the same address. */
  at(url: string, ttlSeconds?: number): KeySet;
  /** The key set of an OpenID provider, which its discovery document names. */
  ofIssuer(issuer: string): KeySet;
  /** Reads these anew when they are next asked for; all of them where none are named. */
  forget(sources?: KeySources): void;
}

/** Whose keys a definition believes. */
export interface KeySources {
  readonly urls: readonly string[];
  readonly issuers: readonly string[];
}

export interface KeySetsOptions {
  readonly outbound: OutboundClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly ttlSeconds: number;
  /** How long a source is left alone after it was asked because of a key nobody knows, or did not answer. */
  readonly pauseSeconds: number;
}

const setsKept = 1000;
const keysInSet = 200;
const setBytes = 512 * 1024;
const fetchTimeoutMs = 5000;

interface State {
  readonly locate: () => Promise<string>;
  keys: readonly SetKey[] | undefined;
  /** The text the keys were read from: while it is the same, so are the keys. */
  text: string;
  loadedAtMs: number;
  triedAtMs: number;
  failed: boolean;
  loading: Promise<void> | undefined;
}

export function keySets({ outbound, clock, log, ttlSeconds, pauseSeconds }: KeySetsOptions): KeySets {
  const states = new Lru<string, State>(setsKept);

  async function fetched(url: string): Promise<string> {
    const { status, body } = await outbound.fetch({
      url,
      headers: { accept: 'application/json' },
      audience: 'operator',
      timeoutMs: fetchTimeoutMs,
      maxBytes: setBytes,
    });
    if (status !== 200) throw new Error(`${url} answers ${status}`);
    return body.toString();
  }

  async function renew(state: State): Promise<void> {
    state.triedAtMs = clock.now();
    try {
      const url = await state.locate();
      const text = await fetched(url);
      if (state.keys === undefined || text !== state.text) state.keys = keysIn(text, state.keys ?? []);
      state.text = text;
      state.loadedAtMs = clock.now();
      state.failed = false;
    } catch (error) {
      // The last keys that were good go on being good while their source is away.
      state.failed = true;
      log.warn({ reason: (error as Error).message, kept: state.keys?.length ?? 0 }, 'a key set could not be read');
    }
  }

  const renewed = (state: State): Promise<void> => {
    state.loading ??= renew(state).finally(() => {
      state.loading = undefined;
    });
    return state.loading;
  };

  function find(state: State, ttlMs: number, asked: AskedKey): MaybePromise<SetKey | undefined> {
    const now = clock.now();
    const mayAsk = now - state.triedAtMs >= pauseSeconds * 1000;
    if (state.keys === undefined) {
      if (!mayAsk && !state.loading) return undefined;
      return renewed(state).then(() => chosen(state.keys ?? [], asked));
    }
    const stale = now - state.loadedAtMs >= ttlMs;
    const known = chosen(state.keys, asked);
    if (stale && mayAsk) {
      const renewal = renewed(state);
      // Nobody waits twice for a source that is away.
      if (!state.failed) return renewal.then(() => chosen(state.keys!, asked));
    }
    // Whoever signs with a new key may be ahead of us; a set on its way is waited for, one more is asked for now and then.
    if (known || !(mayAsk || state.loading)) return known;
    return renewed(state).then(() => chosen(state.keys!, asked));
  }

  function setOf(name: string, locate: State['locate'], ttlMs: number): KeySet {
    const stateOf = (): State => {
      const known = states.get(name);
      if (known) return known;
      const made: State = {
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
    return { find: asked => find(stateOf(), ttlMs, asked) };
  }

  return {
    forget(sources) {
      if (!sources) return states.clear();
      for (const url of sources.urls) states.delete(nameOf.url(url));
      for (const issuer of sources.issuers) states.delete(nameOf.issuer(issuer));
    },
    at: (url, ttl = 0) => setOf(nameOf.url(url), async () => url, (ttl || ttlSeconds) * 1000),
    ofIssuer: issuer =>
      setOf(
        nameOf.issuer(issuer),
        async () => discovered(issuer, await fetched(discoveryOf(issuer))),
        ttlSeconds * 1000,
      ),
  };
}

const nameOf = { url: (url: string) => `url ${url}`, issuer: (issuer: string) => `issuer ${issuer}` };
const discoveryOf = (issuer: string) => `${trimTrailingSlashes(issuer)}/.well-known/openid-configuration`;

/** A document that speaks for another issuer could hand one provider's users to another. */
function discovered(issuer: string, text: string): string {
  const { issuer: said, jwks_uri: url } = JSON.parse(text) as { issuer?: unknown; jwks_uri?: unknown };
  if (said !== issuer) throw new Error(`the discovery document of ${issuer} speaks for another issuer`);
  if (typeof url !== 'string') throw new Error(`the discovery document of ${issuer} names no key set`);
  return url;
}

/** Keys that were there before stay the same objects: what was checked with them stays checked. */
function keysIn(text: string, before: readonly SetKey[]): SetKey[] {
  const { keys } = JSON.parse(text) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('it is not a key set');
  const read = keys.slice(0, keysInSet).flatMap(written => {
    const key = typeof written === 'object' && written !== null ? setKeyOf(written) : undefined;
    return key ?? [];
  });
  return read.map(key => before.find(old => isSame(old, key)) ?? key);
}

const isSame = (one: SetKey, other: SetKey) =>
  one.kid === other.kid && one.alg === other.alg && one.family === other.family && one.key.equals(other.key);

function chosen(keys: readonly SetKey[], { kid, algorithm, families }: AskedKey): SetKey | undefined {
  const fitting = keys.filter(key => families.includes(key.family) && (key.alg === undefined || key.alg === algorithm));
  if (kid !== undefined) return fitting.find(key => key.kid === kid);
  return fitting.length === 1 ? fitting[0] : undefined;
}
