import { limitStream } from '../pipeline/body-limit.ts';
import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepReads } from '../pipeline/step.ts';

/** Methods without body semantics. */
const exemptMethods = new Set(['GET', 'DELETE', 'TRACE', 'OPTIONS', 'HEAD']);
const unlimited = Number.POSITIVE_INFINITY;

type Services = Pick<PipelineServices, 'settings'>;

const reads = { version: ['requestSizeLimit'], endpoints: ['requestSizeLimit'] } as const satisfies StepReads;

/** Request size limits of the version and the endpoint; the smaller one applies. */
export const sizeLimitStep: Step<Services, typeof reads> = {
  name: 'size-limit',
  reads,
  build({ model, version, services }) {
    const { enabled, bytes } = version.requestSizeLimit;
    const versionMaxBytes = enabled && bytes > 0 ? bytes : unlimited;
    const entries = version.endpoints.requestSizeLimit.filter(entry => entry.bytes > 0);
    const matcher = createEndpointMatcher(entries, { model, version, settings: services.settings });
    if (versionMaxBytes === unlimited && !matcher) return undefined;
    const requiresLength = services.settings['gateway.require_content_length'];
    return {
      request(call) {
        if (exemptMethods.has(call.method)) return undefined;
        const maxBytes = Math.min(versionMaxBytes, matcher?.find(call)?.bytes ?? unlimited);
        return maxBytes === unlimited ? undefined : enforceLimit(call, maxBytes, requiresLength);
      },
    };
  },
};

function enforceLimit(call: Exchange, maxBytes: number, requiresLength: boolean) {
  const contentLength = call.headers.get('content-length');
  if (contentLength === undefined) {
    if (requiresLength) return refuse(call, 'length_required');
    if ((call.body.bytes?.length ?? 0) > maxBytes) return refuse(call, 'request_too_large');
    limitStream(call, maxBytes);
    return undefined;
  }
  if (!/^\d+$/.test(contentLength)) return refuse(call, 'length_invalid');
  return Number(contentLength) > maxBytes ? refuse(call, 'request_too_large') : undefined;
}
