import { createJqTransforms } from '../transform/jq-transform.ts';
import { createRequestTransformStep } from './transform-request-body.ts';
import { createResponseTransformStep } from './transform-response-body.ts';

/** jq transforms, which also set headers and context variables; failures are handled as for templates. */
export const transformRequestJqStep = createRequestTransformStep('transform-request-jq', context =>
  createJqTransforms(context.version.endpoints.transformJq, 'request', context),
);

export const transformResponseJqStep = createResponseTransformStep('transform-response-jq', context =>
  createJqTransforms(context.version.endpoints.transformJqResponse, 'response', context),
);
