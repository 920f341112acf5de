import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepReads } from '../pipeline/step.ts';

const methods = new Set(['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);

type Services = Pick<PipelineServices, 'settings'>;

const reads = { endpoints: ['transformRequestMethod'] } as const satisfies StepReads;

/** Changes the method of the upstream request. */
export const methodTransformStep: Step<Services, typeof reads> = {
  name: 'method-transform',
  reads,
  build(context) {
    const { version, services } = context;
    const entries = version.endpoints.transformRequestMethod.map(({ path, method, toMethod }) => ({
      path,
      method,
      to: toMethod.toUpperCase(),
    }));
    const endpoints = createEndpointMatcher(entries, { ...context, settings: services.settings });
    if (!endpoints) return undefined;
    return {
      request(call) {
        const found = endpoints.find(call);
        if (!found) return undefined;
        if (!methods.has(found.to)) return refuse(call, 'method_unknown');
        call.upstreamMethod = found.to;
        return undefined;
      },
    };
  },
};
