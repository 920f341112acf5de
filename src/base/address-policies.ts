import { type AddressPolicy, type AddressPolicyOptions, createAddressPolicy, networkNames } from './address-policy.ts';
import { Lru } from './lru.ts';

/** The address policies of a process, one for each set of networks. */
export interface AddressPolicies {
  /** All networks: what the operator configures. */
  readonly operator: AddressPolicy;
  /** `public`, `private`, `loopback` and CIDR ranges, as the grants of an organisation name them. */
  withNetworks(networks: readonly string[]): AddressPolicy;
}

/** Sets of networks that are remembered; organisations share them. */
const maxPolicies = 1000;

export function createAddressPolicies(options: Omit<AddressPolicyOptions, 'networks'>): AddressPolicies {
  const operator = createAddressPolicy({ ...options, networks: networkNames });
  const known = new Lru<string, AddressPolicy>(maxPolicies);
  return {
    operator,
    withNetworks(networks) {
      const key = networks.join(',');
      let policy = known.get(key);
      if (!policy) {
        const made = createAddressPolicy({ ...options, networks });
        policy = made.key === operator.key ? operator : made;
        known.set(key, policy);
      }
      return policy;
    },
  };
}
