import type { AddressPolicy } from '#base/address-policy.ts';
import { BoundedMap } from '#base/bounded-map.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { JwksSources } from '../auth/jwks.ts';
import { mergeKeySetReports } from '../auth/key-set-report.ts';
import type { NetworkServices } from '../steps/step-services.ts';

/** Bound of address policies with caches of their own. */
const maxNetworkServices = 1000;

export interface NetworkServicesOptions {
  /** Services under the default address policy. */
  readonly shared: NetworkServices;
  readonly create: (outbound: OutboundClient) => Omit<NetworkServices, 'outbound'>;
}

/**
 * Network services by address policy. Key sets and registry lists are cached by URL: under another policy they have another
 * cache, so that one organisation is not served what only another may fetch.
 */
export function createNetworkServices({ shared, create }: NetworkServicesOptions) {
  const byPolicy = new BoundedMap<string, NetworkServices>(maxNetworkServices);
  return {
    forPolicy(policy: AddressPolicy): NetworkServices {
      if (policy.key === '') return shared;
      let services = byPolicy.get(policy.key);
      if (!services) {
        const outbound: OutboundClient = {
          fetch: request => shared.outbound.fetch({ ...request, policy }),
          close: async () => undefined,
        };
        services = { outbound, ...create(outbound) };
        byPolicy.set(policy.key, services);
      }
      return services;
    },
    listKeySets: () => mergeKeySetReports([shared, ...byPolicy.values()].flatMap(({ jwks }) => jwks.list())),
    invalidateJwks(sources?: JwksSources): void {
      shared.jwks.invalidate(sources);
      for (const { jwks } of byPolicy.values()) jwks.invalidate(sources);
    },
  };
}
