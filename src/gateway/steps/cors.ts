import type { Step } from '../pipeline/step.ts';
import { createCorsPolicy } from './cors-policy.ts';

/** Tells pages of other origins what they may read, whatever becomes of the call. */
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

/** Answers browsers that ask first. */
export const corsStep: Step = {
  name: 'cors',
  build(context) {
    const rules = createCorsPolicy(context);
    if (!rules) return undefined;
    // Where the upstream answers OPTIONS calls itself they do not come here.
    return { request: call => (call.method === 'OPTIONS' ? rules.respondToOptions(call) : undefined) };
  },
};
