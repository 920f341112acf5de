import type { Step } from '../pipeline/step.ts';
import { overridesOf } from './error-overrides/overrides.ts';

const firstError = 400;

/** Says something else in place of an upstream's error. Refusals are seen to where they go out, whoever refuses. */
export const errorOverrides: Step = {
  name: 'error-overrides',
  make({ model, tools }) {
    const overrides = overridesOf(model.errorOverrides, tools);
    if (!overrides) return undefined;
    return {
      needsBody: (_call, { status }) => status >= firstError && overrides.needsBody(status),
      response(call, given) {
        if (given.status >= firstError) overrides.upstream(call, given);
      },
    };
  },
};
