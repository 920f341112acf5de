import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepReads } from '../pipeline/step.ts';
import { createCorsPolicy } from './cors-policy.ts';

const reads = { api: ['cors'] } as const satisfies StepReads;

/** CORS headers on every response, also on errors. */
export const corsHeadersStep: Step<Pick<PipelineServices, 'log'>, typeof reads> = {
  name: 'cors-headers',
  reads,
  build(context) {
    const cors = createCorsPolicy(context);
    if (!cors) return undefined;
    return {
      request(call) {
        cors.addHeaders(call);
        return undefined;
      },
      response: (call, { headers }) => cors.removeUpstreamHeaders(call, headers),
    };
  },
};

/** CORS preflight. */
export const corsStep: Step<Pick<PipelineServices, 'log'>, typeof reads> = {
  name: 'cors',
  reads,
  build(context) {
    const rules = createCorsPolicy(context);
    if (!rules) return undefined;
    // With `options_passthrough` OPTIONS requests do not get here.
    return { request: call => (call.method === 'OPTIONS' ? rules.respondToOptions(call) : undefined) };
  },
};
