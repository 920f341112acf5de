import type { AddressPolicies } from '#base/address-policies.ts';
import type { Clock } from '#base/clock.ts';
import { createOutboundClient, type OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import type { MainThreadRpc, StepServices } from '../pipeline/step-services.ts';
import { createRpcClient, type RpcRequest } from '../pipeline/thread-rpc.ts';
import { createJwksCache } from './jwks.ts';
import type { KeyCache } from './key-cache.ts';
import { createOauthTokenCache } from './oauth/token-cache.ts';
import type { AccessStore } from './store.ts';

export interface TokenServicesOptions {
  readonly addresses: AddressPolicies;
  readonly store: AccessStore;
  readonly sessions: KeyCache;
  readonly vault: Vault;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  /** To the main thread. */
  readonly post: (question: RpcRequest) => void;
}

/** Calls of one thread to others. What asks for each caller's sake has a smaller bound of its own for each API. */
const maxConcurrentCalls = 1000;
/** Questions of one thread the main thread may be busy with. */
const maxPendingRpcCalls = 200;

/** What knowing callers by tokens takes of a thread. */
export function createTokenServices({ post, ...options }: TokenServicesOptions) {
  const { settings, clock, log, addresses } = options;
  const out = createOutboundClient({ addresses, maxConcurrent: maxConcurrentCalls });
  const main = createRpcClient<MainThreadRpc>(post, maxPendingRpcCalls);
  const oauthTokens = createOauthTokenCache(options);
  const createJwks = (through: OutboundClient) =>
    createJwksCache({
      outbound: through,
      clock,
      log,
      ttlSeconds: settings['jwks.cache_ttl_seconds'],
      minRefreshSeconds: settings['jwks.min_refresh_seconds'],
    });
  const services: Pick<StepServices, 'outbound' | 'jwks' | 'oauthTokens' | 'rpc'> = {
    outbound: out,
    jwks: createJwks(out),
    oauthTokens,
    rpc: main.call,
  };
  return {
    tools: services,
    createKeySets: createJwks,
    hear: main.receive,
    changed: oauthTokens.invalidate,
    close: () => out.close(),
  };
}
