import type { AddressPolicies } from '#base/address-policies.ts';
import { refuseWrittenAddress } from '#base/address-policy.ts';
import { findOutboundAddresses, type OutboundAddress } from '#definition/outbound-addresses.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import type { Wrapper } from './schema.ts';

/**
 * Literal addresses at write time: rejects those that no grant allows, such as link-local ones and the management
 * listeners. Networks of organisations are checked when a connection opens, since grants change; names are too.
 */
export function ensureAddressesAllowed(
  { addressPolicies }: { readonly addressPolicies: AddressPolicies },
  addresses: readonly OutboundAddress[],
): void {
  const errors = addresses.flatMap(({ path, address }) => {
    const refused = refuseWrittenAddress(addressPolicies.operator, address);
    return refused ? [{ path, message: refused.message }] : [];
  });
  if (errors.length > 0) throw createInvalidProblem(errors);
}

/** Addresses of the webhooks beside a definition. */
export const findHookAddresses = ({ hook_references }: Pick<Wrapper, 'hook_references'>): OutboundAddress[] =>
  findOutboundAddresses('classic', { hook_references });
