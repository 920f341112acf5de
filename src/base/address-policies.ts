import { type AddressPolicy, type AddressPolicyOptions, createAddressPolicy, networkNames } from './address-policy.ts';

/** The address policies of a process, one for each set of networks. */
export interface AddressPolicies {
  /** All networks: what the operator configures. */
  readonly operator: AddressPolicy;
  /** For connections that the definitions of an organisation ask for. */
  of(orgId: string): AddressPolicy;
}

export interface AddressPoliciesOptions extends Omit<AddressPolicyOptions, 'networks'> {
  /** Networks of an organisation; undefined for all of them. */
  readonly networksOf?: (orgId: string) => readonly string[] | undefined;
}

export function createAddressPolicies({ networksOf, ...options }: AddressPoliciesOptions): AddressPolicies {
  const operator = createAddressPolicy({ ...options, networks: networkNames });
  const known = new WeakMap<readonly string[], AddressPolicy>();
  return {
    operator,
    of(orgId) {
      const networks = networksOf?.(orgId);
      if (!networks) return operator;
      let policy = known.get(networks);
      if (!policy) {
        policy = createAddressPolicy({ ...options, networks });
        known.set(networks, policy);
      }
      return policy;
    },
  };
}
