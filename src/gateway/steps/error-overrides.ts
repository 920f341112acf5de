import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepReads } from '../pipeline/step.ts';
import { createErrorOverrides } from './error-overrides/overrides.ts';

const firstError = 400;

const reads = { api: ['errorOverrides'] } as const satisfies StepReads;

/** Error overrides for upstream errors. Gateway errors are overridden where they are written. */
export const errorOverridesStep: Step<Pick<PipelineServices, 'log' | 'settings'>, typeof reads> = {
  name: 'error-overrides',
  reads,
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
