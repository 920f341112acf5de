import type { AddressPolicy } from '#base/address-policy.ts';
import type { StepServices } from './step-services.ts';

/** Services on behalf of one organisation: its own secrets, and clients held to the networks of its grants. */
export function scopeServices(
  threadServices: StepServices,
  orgId: string,
): { readonly policy: AddressPolicy; readonly services: StepServices } {
  const policy = threadServices.addressPolicies.withNetworks(threadServices.grants.of(orgId).networks);
  const network = policy.key === '' ? {} : threadServices.networkFor(policy);
  const secrets = threadServices.secrets.forOrganisation(orgId);
  return { policy, services: { ...threadServices, ...network, secrets } };
}
