import type { KeySetReport } from '#apis/system/node-store.ts';
import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import { Lru } from '#base/lru.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { trimTrailingSlashes } from '#base/trim-slashes.ts';
import { type KeyFamily, parseJwk, type VerificationKey } from './jwt-keys.ts';
import { mergeKeySetReports, toReportedFailure, toReportedUrl } from './key-set-report.ts';

/** A cached JWKS (RFC 7517). */
export interface KeySet {
  /** The key for a token. Without a `kid` there must be exactly one candidate. */
  find(query: KeyQuery): MaybePromise<VerificationKey | undefined>;
}

export interface KeyQuery {
  readonly kid: string | undefined;
  readonly algorithm: string;
  readonly families: readonly KeyFamily[];
}

export interface JwksCache {
  /** APIs with the same URL share a key set. */
  forUrl(url: string, ttlSeconds?: number): KeySet;
  /** The key set of an OpenID provider, found by discovery. */
  forIssuer(issuer: string): KeySet;
  /** The next lookup fetches again; without sources all are invalidated. */
  invalidate(sources?: JwksSources): void;
  /** Key sets that requests have used, those that could not be fetched included; bounded. */
  list(): KeySetReport[];
}

/** The key sets a definition trusts. */
export interface JwksSources {
  readonly urls: readonly string[];
  readonly issuers: readonly string[];
}

export interface JwksCacheOptions {
  readonly outbound: OutboundClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly ttlSeconds: number;
  /** Minimum interval between refreshes for an unknown key or after a failure. */
  readonly minRefreshSeconds: number;
}

const maxCachedSets = 1000;
const maxKeysPerSet = 200;
const maxSetBytes = 512 * 1024;
const fetchTimeoutMs = 5000;

interface KeySetState {
  readonly kind: KeySetReport['kind'];
  /** URL of the key set, or the issuer. */
  readonly source: string;
  readonly locate: () => Promise<string>;
  keys: readonly VerificationKey[] | undefined;
  /** The response text: while it is unchanged the key objects are too. */
  text: string;
  loadedAtMs: number;
  triedAtMs: number;
  /** Reason of the last failure; empty after a success. */
  failure: string;
  loading: Promise<void> | undefined;
}

export function createJwksCache(options: JwksCacheOptions): JwksCache {
  const { outbound, ttlSeconds } = options;
  const states = new Lru<string, KeySetState>(maxCachedSets);

  function createKeySet(origin: KeySetOrigin, ttlMs: number): KeySet {
    const name = cacheKeys[origin.kind](origin.source);
    const getState = (): KeySetState => {
      const existing = states.get(name);
      if (existing) return existing;
      const state = createState(origin);
      states.set(name, state);
      return state;
    };
    return { find: query => findKey(options, getState(), ttlMs, query) };
  }

  return {
    invalidate(sources) {
      if (!sources) return states.clear();
      for (const url of sources.urls) states.delete(cacheKeys.url(url));
      for (const issuer of sources.issuers) states.delete(cacheKeys.issuer(issuer));
    },
    forUrl: (url, ttl = 0) =>
      createKeySet({ kind: 'url', source: url, locate: async () => url }, (ttl || ttlSeconds) * 1000),
    forIssuer: issuer =>
      createKeySet(
        {
          kind: 'issuer',
          source: issuer,
          locate: async () => parseDiscovery(issuer, await fetchText(outbound, toDiscoveryUrl(issuer))),
        },
        ttlSeconds * 1000,
      ),
    list: () => mergeKeySetReports([...states.entries()].map(([, state]) => toReport(state))),
  };
}

type KeySetOrigin = Pick<KeySetState, 'kind' | 'source' | 'locate'>;

const createState = (origin: KeySetOrigin): KeySetState => ({
  ...origin,
  keys: undefined,
  text: '',
  loadedAtMs: 0,
  triedAtMs: Number.NEGATIVE_INFINITY,
  failure: '',
  loading: undefined,
});

const toReport = ({ kind, source, keys, loadedAtMs, failure }: KeySetState): KeySetReport => ({
  kind,
  source: toReportedUrl(source),
  keys: keys?.length ?? 0,
  loadedAtMs,
  failure: toReportedFailure(failure),
});

function findKey(
  options: JwksCacheOptions,
  state: KeySetState,
  ttlMs: number,
  query: KeyQuery,
): MaybePromise<VerificationKey | undefined> {
  const now = options.clock.now();
  const mayRefresh = now - state.triedAtMs >= options.minRefreshSeconds * 1000;
  if (state.keys === undefined) {
    if (!mayRefresh && !state.loading) return undefined;
    return refreshOnce(options, state).then(() => selectKey(state.keys ?? [], query));
  }
  const stale = now - state.loadedAtMs >= ttlMs;
  const key = selectKey(state.keys, query);
  if (stale && mayRefresh) {
    const renewal = refreshOnce(options, state);
    // Stale-while-revalidate: requests do not wait for a source that failed before.
    if (state.failure === '') return renewal.then(() => selectKey(state.keys!, query));
  }
  // Key rotation: an unknown key waits for a refresh under way, or starts one within the minimum interval.
  if (key || !(mayRefresh || state.loading)) return key;
  return refreshOnce(options, state).then(() => selectKey(state.keys!, query));
}

function refreshOnce(options: JwksCacheOptions, state: KeySetState): Promise<void> {
  state.loading ??= refresh(options, state).finally(() => {
    state.loading = undefined;
  });
  return state.loading;
}

async function refresh({ outbound, clock, log }: JwksCacheOptions, state: KeySetState): Promise<void> {
  state.triedAtMs = clock.now();
  try {
    const url = await state.locate();
    const text = await fetchText(outbound, url);
    if (state.keys === undefined || text !== state.text) state.keys = parseKeySet(text, state.keys ?? []);
    state.text = text;
    state.loadedAtMs = clock.now();
    state.failure = '';
  } catch (error) {
    // Stale keys stay in use while their source is unavailable.
    state.failure = (error as Error).message || 'unknown error';
    log.warn(
      { reason: (error as Error).message, keys: state.keys?.length ?? 0 },
      'JWKS unavailable, keeping the cached keys',
    );
  }
}

async function fetchText(outbound: OutboundClient, url: string): Promise<string> {
  const { status, body } = await outbound.fetch({
    url,
    headers: { accept: 'application/json' },
    audience: 'operator',
    timeoutMs: fetchTimeoutMs,
    maxBytes: maxSetBytes,
  });
  if (status !== 200) throw new Error(`${url} responded with status ${status}`);
  return body.toString();
}

const cacheKeys = { url: (url: string) => `url ${url}`, issuer: (issuer: string) => `issuer ${issuer}` };
const toDiscoveryUrl = (issuer: string) => `${trimTrailingSlashes(issuer)}/.well-known/openid-configuration`;

/** OpenID Connect Discovery 1.0, section 4.3: the issuer must match, else one provider could sign for another. */
function parseDiscovery(issuer: string, text: string): string {
  const { issuer: announcedIssuer, jwks_uri: url } = JSON.parse(text) as { issuer?: unknown; jwks_uri?: unknown };
  if (announcedIssuer !== issuer) throw new Error(`the discovery document of ${issuer} has another issuer`);
  if (typeof url !== 'string') throw new Error(`the discovery document of ${issuer} has no jwks_uri`);
  return url;
}

/** Reuses unchanged key objects: verified tokens are cached by them. */
function parseKeySet(text: string, before: readonly VerificationKey[]): VerificationKey[] {
  const { keys } = JSON.parse(text) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('the response is not a JWKS');
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
