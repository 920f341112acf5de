import type { Step, StepReads } from '../pipeline/step.ts';
import { createJqTransforms } from '../transform/jq-transform.ts';
import { buildRequestTransform, type TransformServices } from './transform-request-body.ts';
import { buildResponseTransform } from './transform-response-body.ts';

const requestReads = {
  endpoints: ['transformJq'],
  also: { api: ['contextVariables'] },
} as const satisfies StepReads;

/** jq transforms, which also set headers and context variables; failures are handled as for templates. */
export const transformRequestJqStep: Step<TransformServices, typeof requestReads> = {
  name: 'transform-request-jq',
  reads: requestReads,
  build(context) {
    const transforms = createJqTransforms(context.version.endpoints.transformJq, 'request', context);
    return buildRequestTransform(transforms, context.services);
  },
};

const responseReads = {
  endpoints: ['transformJqResponse'],
  also: { api: ['contextVariables'] },
} as const satisfies StepReads;

export const transformResponseJqStep: Step<TransformServices, typeof responseReads> = {
  name: 'transform-response-jq',
  reads: responseReads,
  build(context) {
    const transforms = createJqTransforms(context.version.endpoints.transformJqResponse, 'response', context);
    return buildResponseTransform(transforms, context.services);
  },
};
