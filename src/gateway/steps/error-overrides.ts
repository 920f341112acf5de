import type { Step } from '../pipeline/step.ts';
import { createErrorOverrides } from './error-overrides/overrides.ts';

const firstError = 400;

/** Says something else in place of an upstream's error. Refusals are seen to where they go out, whoever refuses. */
export const errorOverridesStep: Step = {
  name: 'error-overrides',
  build({ model, services }) {
    const overrides = createErrorOverrides(model.errorOverrides, services);
    if (!overrides) return undefined;
    return {
      buffersResponse: (_call, { status }) => status >= firstError && overrides.buffersResponse(status),
      response(call, response) {
        if (response.status >= firstError) overrides.overrideUpstreamError(call, response);
      },
    };
  },
};
