import { bringsTooMuch, tooLarge } from '../pipeline/body-limit.ts';
import { endpointMatcher } from '../pipeline/endpoint-match.ts';
import { refuseAccess } from '../pipeline/refusals.ts';
import type { Made, StepContext } from '../pipeline/step.ts';
import { ipAccess } from './ip-access.ts';

/** A preflight has no body; what comes with one is not buffered or forwarded without bound. */
const maxOptionsBodyBytes = 64 * 1024;

/**
 * Access control of OPTIONS requests that pass every step (`options_passthrough`): IP lists, block lists and a bound on the
 * body count for them too. Keys and allow lists do not, since browsers send preflights without credentials.
 */
export function createOptionsAccess(context: StepContext): NonNullable<Made['request']> {
  const { version, model, tools } = context;
  const addresses = ipAccess.make(context);
  const blocked = endpointMatcher(version.endpoints.block, { model, version, settings: tools.settings });
  return call => {
    if (bringsTooMuch(call, maxOptionsBodyBytes)) return tooLarge(call);
    if (blocked?.find(call)) return refuseAccess(tools, call, 'endpoint_forbidden');
    return addresses?.request?.(call);
  };
}
