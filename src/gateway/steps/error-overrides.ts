import type { Step } from '../pipeline/step.ts';
import { overridesOf } from './error-overrides/overrides.ts';

const firstError = 400;

/** Says something else in place of an upstream's error. Refusals are seen to where they go out, whoever refuses. */
export const errorOverrides: Step = {
  name: 'error-overrides',
  build({ model, services }) {
    const overrides = overridesOf(model.errorOverrides, services);
    if (!overrides) return undefined;
    return {
      buffersResponse: (_call, { status }) => status >= firstError && overrides.needsBody(status),
      response(call, response) {
        if (response.status >= firstError) overrides.upstream(call, response);
      },
    };
  },
};
