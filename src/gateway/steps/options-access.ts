import { bodyTooLargeResponse, exceedsBodyLimit } from '../pipeline/body-limit.ts';
import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { StepHooks } from '../pipeline/exchange.ts';
import { refuseAccess } from '../pipeline/refusals.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { StepContext, StepReads } from '../pipeline/step.ts';
import { ipAccessStep } from './ip-access.ts';

/** A preflight has no body; what comes with one is not buffered or forwarded without bound. */
const maxOptionsBodyBytes = 64 * 1024;

type Services = Pick<PipelineServices, 'emitEvent' | 'settings'>;

const reads = { api: ['ipAccess'], endpoints: ['block'] } as const satisfies StepReads;

/**
 * Access control of OPTIONS requests that pass every step (`options_passthrough`): IP lists, block lists and a bound on the
 * body count for them too. Keys and allow lists do not, since browsers send preflights without credentials.
 */
export function createOptionsAccess(context: StepContext<Services, typeof reads>): NonNullable<StepHooks['request']> {
  const { version, model, services } = context;
  const addresses = ipAccessStep.build(context);
  const blocked = createEndpointMatcher(version.endpoints.block, { model, version, settings: services.settings });
  return call => {
    if (exceedsBodyLimit(call, maxOptionsBodyBytes)) return bodyTooLargeResponse(call);
    if (blocked?.find(call)) return refuseAccess(services, call, 'endpoint_forbidden');
    return addresses?.request?.(call);
  };
}
