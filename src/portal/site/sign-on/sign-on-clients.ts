import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Vault } from '#base/vault.ts';
import { createFailureSampler } from '#people/single-sign-on/failure-sampler.ts';
import { createFlowCookies } from '#people/single-sign-on/flow-cookie.ts';
import { createDiscovery } from '#people/single-sign-on/oidc/discovery.ts';
import { createProviderSlots } from '#people/single-sign-on/provider-slots.ts';
import { createSamlProviders } from '#people/single-sign-on/saml/metadata.ts';

/** Sign-ons that wait for identity providers at once: apart from those of the dashboard, which visitors must not use up. */
const maxConcurrentSignOns = 50;

interface SignOnClientServices {
  vault: Vault;
  clock: Clock;
  outbound: OutboundClient;
}

/** Clients of identity providers, with their caches, and the state of sign-ons in this process. */
export const createSignOnClients = ({ vault, clock, outbound }: SignOnClientServices) => ({
  flowCookies: createFlowCookies(vault, clock, 'portal'),
  failureSampler: createFailureSampler(clock),
  discoverProvider: createDiscovery(outbound, clock),
  findSamlProvider: createSamlProviders(outbound, clock),
  providerSlots: createProviderSlots(maxConcurrentSignOns),
});

export type SignOnClients = ReturnType<typeof createSignOnClients>;
