import type { Step } from '../pipeline/step.ts';
import { corsOf } from './cors-policy.ts';

/** Tells pages of other origins what they may read, whatever becomes of the call. */
export const corsHeaders: Step = {
  name: 'cors-headers',
  build(context) {
    const cors = corsOf(context);
    if (!cors) return undefined;
    return {
      request(call) {
        cors.mark(call);
        return undefined;
      },
      response: (call, { headers }) => cors.alone(call, headers),
    };
  },
};

/** Answers browsers that ask first. */
export const cors: Step = {
  name: 'cors',
  build(context) {
    const rules = corsOf(context);
    if (!rules) return undefined;
    // Where the upstream answers OPTIONS calls itself they do not come here.
    return { request: call => (call.method === 'OPTIONS' ? rules.options(call) : undefined) };
  },
};
