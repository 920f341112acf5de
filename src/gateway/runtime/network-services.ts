import type { AddressPolicy } from '#base/address-policy.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { JwksCache, JwksSources } from '../auth/jwks.ts';
import type { ServiceDiscovery } from '../proxy/service-discovery.ts';

/** What definitions make the gateway ask of other servers. */
export interface NetworkTools {
  readonly outbound: OutboundClient;
  readonly jwks: JwksCache;
  readonly serviceDiscovery: ServiceDiscovery;
}

/** Sets of networks whose key sets and registries are kept apart. */
const maxNetworkTools = 1000;

export interface NetworkToolsOptions {
  /** For all networks. */
  readonly shared: NetworkTools;
  readonly create: (outbound: OutboundClient) => Omit<NetworkTools, 'outbound'>;
}

/**
 * Network tools by address policy. Key sets and registry lists are cached by URL: under another policy they have another
 * cache, so that one organisation is not served what only another may fetch.
 */
export function createNetworkTools({ shared, create }: NetworkToolsOptions) {
  const byPolicy = new Map<string, NetworkTools>();
  return {
    within(policy: AddressPolicy): NetworkTools {
      if (policy.key === '') return shared;
      let tools = byPolicy.get(policy.key);
      if (!tools) {
        const outbound: OutboundClient = {
          fetch: request => shared.outbound.fetch({ ...request, policy }),
          close: async () => undefined,
        };
        tools = { outbound, ...create(outbound) };
        const [oldest] = byPolicy.keys();
        if (byPolicy.size >= maxNetworkTools && oldest !== undefined) byPolicy.delete(oldest);
        byPolicy.set(policy.key, tools);
      }
      return tools;
    },
    forgetKeySets(sources?: JwksSources): void {
      shared.jwks.invalidate(sources);
      for (const { jwks } of byPolicy.values()) jwks.invalidate(sources);
    },
  };
}
