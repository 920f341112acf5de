import type { Step } from '../pipeline/step.ts';
import { createCorsPolicy } from './cors-policy.ts';

/** CORS headers on every response, also on errors. */
export const corsHeadersStep: Step = {
  name: 'cors-headers',
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
export const corsStep: Step = {
  name: 'cors',
  build(context) {
    const rules = createCorsPolicy(context);
    if (!rules) return undefined;
    // With `options_passthrough` OPTIONS requests do not get here.
    return { request: call => (call.method === 'OPTIONS' ? rules.respondToOptions(call) : undefined) };
  },
};
