import type { AddressPolicies } from '#base/address-policies.ts';
import type { Clock } from '#base/clock.ts';
import { createOutboundClient, type OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import type { MainThreadRpc, StepServices } from '../pipeline/step-services.ts';
import { createRpcClient, type Question } from '../pipeline/thread-rpc.ts';
import { keySets } from './jwks.ts';
import type { Sessions } from './key-cache.ts';
import { oauthTokensOf } from './oauth/tokens.ts';
import type { AccessStore } from './store.ts';

export interface TokenToolsOptions {
  readonly addresses: AddressPolicies;
  readonly store: AccessStore;
  readonly sessions: Sessions;
  readonly vault: Vault;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  /** To the main thread. */
  readonly post: (question: Question) => void;
}

/** Calls of one thread to others. What asks for each caller's sake has a smaller bound of its own for each API. */
const callsAtOnce = 1000;
/** Questions of one thread the main thread may be busy with. */
const questionsAtOnce = 200;

/** What knowing callers by tokens takes of a thread. */
export function tokenTools({ post, ...options }: TokenToolsOptions) {
  const { settings, clock, log, addresses } = options;
  const out = createOutboundClient({ addresses, maxConcurrent: callsAtOnce });
  const main = createRpcClient<MainThreadRpc>(post, questionsAtOnce);
  const oauthTokens = oauthTokensOf(options);
  const createKeySets = (through: OutboundClient) =>
    keySets({
      outbound: through,
      clock,
      log,
      ttlSeconds: settings['jwks.cache_seconds'],
      pauseSeconds: settings['jwks.refresh_pause_seconds'],
    });
  const services: Pick<StepServices, 'outbound' | 'jwks' | 'oauthTokens' | 'rpc'> = {
    outbound: out,
    jwks: createKeySets(out),
    oauthTokens,
    rpc: main.ask,
  };
  return { tools: services, createKeySets, hear: main.hear, changed: oauthTokens.changed, close: () => out.close() };
}
