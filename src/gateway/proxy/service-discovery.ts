import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import { Lru } from '#base/lru.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { Problem } from '#base/problems.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { type DiscoveryRules, InvalidDiscoveryResponse, parseHosts } from './discovery-response.ts';

/** Discovered list, cached and refreshed. */
export interface DiscoveredList<T> {
  /**
   * Last valid list; a promise only until the first one, empty when there never was one. Stale-while-revalidate: an
   * expired list is returned and refreshed in the background.
   */
  list(): MaybePromise<readonly T[]>;
  /** An entry failed: refresh as soon as the minimum interval allows. */
  refreshSoon(): void;
}

export interface ServiceDiscovery {
  /** `kind` separates lists parsed differently from one response; `read` parses its texts. */
  of<T>(kind: string, rules: DiscoveryRules, read: (texts: readonly string[]) => readonly T[]): DiscoveredList<T>;
}

export interface ServiceDiscoveryOptions {
  readonly outbound: OutboundClient;
  readonly clock: Clock;
  readonly log: Log;
  /** TTL where the definition sets none. */
  readonly defaultTtlSeconds: number;
}

const maxCachedLists = 1000;
const maxResponseBytes = 1024 * 1024;
const requestTimeoutMs = 5000;
/** Minimum interval between requests to one registry. */
const minRefreshIntervalMs = 1000;

interface ListState {
  list: readonly unknown[];
  loadedAtMs: number;
  triedAtMs: number;
  loading: Promise<void> | undefined;
}

/** Service discovery. Lists outlive definitions, so that a changed API keeps its last valid list. */
export function createServiceDiscovery(options: ServiceDiscoveryOptions): ServiceDiscovery {
  const { clock, log, defaultTtlSeconds } = options;
  const states = new Lru<string, ListState>(maxCachedLists);

  return {
    of<T>(kind: string, rules: DiscoveryRules, read: (texts: readonly string[]) => readonly T[]): DiscoveredList<T> {
      validateEndpoint(rules.queryEndpoint);
      const { cacheEnabled, cacheSeconds: ttlSeconds, enabled: _enabled, ...keyParts } = rules;
      const key = JSON.stringify([kind, keyParts]);
      const ttlMs = (cacheEnabled && ttlSeconds > 0 ? ttlSeconds : defaultTtlSeconds) * 1000;
      const getState = (): ListState => {
        let state = states.get(key);
        if (!state) {
          state = { list: [], loadedAtMs: 0, triedAtMs: Number.NEGATIVE_INFINITY, loading: undefined };
          states.set(key, state);
        }
        return state;
      };
      function refresh(state: ListState): Promise<void> | undefined {
        if (state.loading || clock.now() - state.triedAtMs < minRefreshIntervalMs) return state.loading;
        state.loading = fetchList(options, state, rules, read)
          .catch(error => log.error({ err: error }, 'service discovery failed'))
          .finally(() => {
            state.loading = undefined;
          });
        return state.loading;
      }
      return {
        list() {
          const state = getState();
          if (state.list.length > 0) {
            if (clock.now() - state.loadedAtMs >= ttlMs) refresh(state);
            return state.list as readonly T[];
          }
          const loading = refresh(state);
          return loading ? loading.then(() => state.list as readonly T[]) : [];
        },
        refreshSoon() {
          const state = getState();
          state.loadedAtMs = Number.NEGATIVE_INFINITY;
          refresh(state);
        },
      };
    },
  };
}

async function fetchList(
  { outbound, clock, log }: ServiceDiscoveryOptions,
  state: ListState,
  rules: DiscoveryRules,
  read: (texts: readonly string[]) => readonly unknown[],
): Promise<void> {
  state.triedAtMs = clock.now();
  try {
    const { status, body } = await outbound.fetch({
      url: rules.queryEndpoint,
      headers: { accept: 'application/json' },
      audience: 'operator',
      timeoutMs: requestTimeoutMs,
      maxBytes: maxResponseBytes,
    });
    if (status !== 200) throw new InvalidDiscoveryResponse(`status ${status}`);
    const list = read(parseHosts(body.toString(), rules));
    if (list.length === 0) throw new InvalidDiscoveryResponse('the response has no usable host');
    state.list = list;
    state.loadedAtMs = clock.now();
  } catch (error) {
    if (!(error instanceof InvalidDiscoveryResponse || error instanceof Problem)) throw error;
    log.warn({ reason: error.message, kept: state.list.length }, 'service discovery failed, last list kept');
  }
}

function validateEndpoint(text: string): void {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.username !== '')
    throw new ApiCompileError('the service registry URL is invalid');
}
