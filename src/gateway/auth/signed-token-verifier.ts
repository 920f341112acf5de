import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import { Lru } from '#base/lru.ts';
import type { Settings } from '#base/settings.ts';
import type { VerifySignedToken } from '#people/single-sign-on/oidc/id-token.ts';
import { createJwksCache, type JwksCache } from './jwks.ts';
import { type KeyFamily, listAlgorithms } from './jwt-keys.ts';
import { createJwtVerifier, findTimeFault, isTokenFault } from './jwt-verifier.ts';

export interface SignedTokenServices {
  readonly outbound: OutboundClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
}

/** Published keys are never shared secrets: no HMAC. */
const acceptedFamilies: readonly KeyFamily[] = ['rsa', 'ecdsa', 'eddsa'];
/** Clock skew between an identity provider and this process. */
const skewSeconds = 60;
const skews = {
  expiresAtSkewSeconds: skewSeconds,
  issuedAtSkewSeconds: skewSeconds,
  notBeforeSkewSeconds: skewSeconds,
};
const maxOrganisations = 1000;

/** Verification of tokens on the management side, by the verifier and the key sets of the traffic path. */
export function createSignedTokenVerifier({ outbound, clock, log, settings }: SignedTokenServices): VerifySignedToken {
  const accepted = listAlgorithms(acceptedFamilies);
  const caches = new Lru<string, JwksCache>(maxOrganisations);

  /** Key sets per organisation: its networks apply to their requests. */
  function getKeySets(orgId: string): JwksCache {
    const existing = caches.get(orgId);
    if (existing) return existing;
    const created = createJwksCache({
      outbound: { fetch: request => outbound.fetch({ ...request, orgId }), close: async () => undefined },
      clock,
      log,
      ttlSeconds: settings['jwks.cache_ttl_seconds'],
      minRefreshSeconds: settings['jwks.min_refresh_seconds'],
    });
    caches.set(orgId, created);
    return created;
  }

  return async ({ orgId, jwksUrl, text }) => {
    const keys = getKeySets(orgId).forUrl(jwksUrl);
    const verifier = createJwtVerifier(
      accepted,
      ({ kid, algorithm }) => keys.find({ kid, algorithm, families: acceptedFamilies }),
      error => log.debug({ reason: error.message }, 'token verification failed'),
    );
    const verified = await verifier.verify(text);
    if (isTokenFault(verified) || findTimeFault(verified.token.claims, clock.now(), skews)) return undefined;
    return verified.token.claims;
  };
}
