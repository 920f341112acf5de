import { type AddressPolicy, type AddressPolicyOptions, createAddressPolicy, networkNames } from './address-policy.ts';
import { Lru } from './lru.ts';

/** Address policies of a process, one for each set of networks. */
export interface AddressPolicies {
  /** All networks: for targets that the operator configures. */
  readonly operator: AddressPolicy;
  /** `public`, `private`, `loopback` and CIDR ranges, as the grants of an organisation name them. */
  withNetworks(networks: readonly string[]): AddressPolicy;
}

/** Cached sets of networks; organisations share them. */
const maxPolicies = 1000;

export function createAddressPolicies(options: Omit<AddressPolicyOptions, 'networks'>): AddressPolicies {
  const operator = createAddressPolicy({ ...options, networks: networkNames });
  const policies = new Lru<string, AddressPolicy>(maxPolicies);
  return {
    operator,
    withNetworks(networks) {
      const key = networks.join(',');
      let policy = policies.get(key);
      if (!policy) {
        const created = createAddressPolicy({ ...options, networks });
        policy = created.key === operator.key ? operator : created;
        policies.set(key, policy);
      }
      return policy;
    },
  };
}
