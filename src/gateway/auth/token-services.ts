import type { AccessStore } from '#access/reader.ts';
import type { AddressPolicies } from '#base/address-policies.ts';
import type { Clock } from '#base/clock.ts';
import { createOutboundClient, type OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import { createJwksCache } from './jwks.ts';
import type { KeyCache } from './key-cache.ts';
import { createOauthTokenCache } from './oauth/token-cache.ts';
import type { AuthServices } from './services.ts';

export interface TokenServicesOptions {
  readonly addresses: AddressPolicies;
  readonly store: AccessStore;
  readonly sessions: KeyCache;
  readonly vault: Vault;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  /** To the main thread. */
}

/** Outbound requests per thread; introspection has its own bound per API. */
const maxConcurrentCalls = 1000;

/** The services of a thread for token authentication. */
export function createTokenServices(options: TokenServicesOptions) {
  const { settings, clock, log, addresses } = options;
  const out = createOutboundClient({ addresses, maxConcurrent: maxConcurrentCalls });
  const oauthTokens = createOauthTokenCache(options);
  const createJwks = (through: OutboundClient) =>
    createJwksCache({
      outbound: through,
      clock,
      log,
      ttlSeconds: settings['jwks.cache_ttl_seconds'],
      minRefreshSeconds: settings['jwks.min_refresh_seconds'],
    });
  const services: Pick<AuthServices, 'outbound' | 'jwks' | 'oauthTokens'> = {
    outbound: out,
    jwks: createJwks(out),
    oauthTokens,
  };
  return {
    services,
    createKeySets: createJwks,
    changed: oauthTokens.invalidate,
    close: () => out.close(),
  };
}
