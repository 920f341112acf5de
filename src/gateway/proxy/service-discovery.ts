import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import { Lru } from '#base/lru.ts';
import { Problem } from '#base/problems.ts';
import { ApiCompileError, type MaybePromise } from '../pipeline/step.ts';
import { type DiscoveryRules, hostsIn, UnreadableAnswer } from './discovery-response.ts';

/** What a registry says, kept and renewed. */
export interface Registry<T> {
  /**
   * The last list that was good; a promise only as long as there is none. Empty where the registry has never given one.
   * Whoever asks for a list that has grown old has it renewed for those who come after.
   */
  list(): MaybePromise<readonly T[]>;
  /** Something on the list does not do what it should: it is read again as soon as that may be. */
  doubt(): void;
}

export interface Registries {
  /** `kind` tells apart what is read from one answer in several ways; `read` makes use of the texts it has. */
  of<T>(kind: string, rules: DiscoveryRules, read: (texts: readonly string[]) => readonly T[]): Registry<T>;
}

export interface RegistriesOptions {
  readonly outbound: OutboundClient;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a list is believed where the definition does not say. */
  readonly cacheSeconds: number;
}

const registriesKept = 1000;
const answerBytes = 1024 * 1024;
const answerWithinMs = 5000;
/** A registry is asked no more often than this, whatever happens. */
const pauseMs = 1000;

interface State {
  list: readonly unknown[];
  loadedAtMs: number;
  triedAtMs: number;
  loading: Promise<void> | undefined;
}

/** Lists live longer than definitions do: a change of an API must not lose the last good one. */
export function registriesOf({ outbound, clock, log, cacheSeconds }: RegistriesOptions): Registries {
  const states = new Lru<string, State>(registriesKept);

  async function renew(state: State, rules: DiscoveryRules, read: (texts: readonly string[]) => readonly unknown[]) {
    state.triedAtMs = clock.now();
    try {
      const { status, body } = await outbound.fetch({
        url: rules.queryEndpoint,
        headers: { accept: 'application/json' },
        audience: 'operator',
        timeoutMs: answerWithinMs,
        maxBytes: answerBytes,
      });
      if (status !== 200) throw new UnreadableAnswer(`it answers ${status}`);
      const list = read(hostsIn(body.toString(), rules));
      if (list.length === 0) throw new UnreadableAnswer('it names nothing that can be used');
      state.list = list;
      state.loadedAtMs = clock.now();
    } catch (error) {
      if (!(error instanceof UnreadableAnswer || error instanceof Problem)) throw error;
      log.warn({ reason: error.message, kept: state.list.length }, 'a registry of upstreams gives no list');
    }
  }

  return {
    of<T>(kind: string, rules: DiscoveryRules, read: (texts: readonly string[]) => readonly T[]): Registry<T> {
      checkEndpoint(rules.queryEndpoint);
      const { cacheEnabled, cacheSeconds: own, enabled: _enabled, ...question } = rules;
      const name = JSON.stringify([kind, question]);
      const believedMs = (cacheEnabled && own > 0 ? own : cacheSeconds) * 1000;
      const stateOf = (): State => {
        let state = states.get(name);
        if (!state) {
          state = { list: [], loadedAtMs: 0, triedAtMs: Number.NEGATIVE_INFINITY, loading: undefined };
          states.set(name, state);
        }
        return state;
      };
      function renewed(state: State): Promise<void> | undefined {
        if (state.loading || clock.now() - state.triedAtMs < pauseMs) return state.loading;
        state.loading = renew(state, rules, read)
          .catch(error => log.error({ err: error }, 'a registry of upstreams could not be read'))
          .finally(() => {
            state.loading = undefined;
          });
        return state.loading;
      }
      return {
        list() {
          const state = stateOf();
          if (state.list.length > 0) {
            if (clock.now() - state.loadedAtMs >= believedMs) renewed(state);
            return state.list as readonly T[];
          }
          const loading = renewed(state);
          return loading ? loading.then(() => state.list as readonly T[]) : [];
        },
        doubt() {
          const state = stateOf();
          state.loadedAtMs = Number.NEGATIVE_INFINITY;
          renewed(state);
        },
      };
    },
  };
}

function checkEndpoint(text: string): void {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.username !== '')
    throw new ApiCompileError('the address of its registry is not one that can be asked');
}
