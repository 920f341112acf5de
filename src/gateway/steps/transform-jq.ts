import { createJqTransforms } from '../transform/jq-transform.ts';
import { createRequestTransformStep } from './transform-request-body.ts';
import { createResponseTransformStep } from './transform-response-body.ts';

/** Filters over bodies, which see and may change more than the body; where they fail it is as with templates. */
export const transformRequestJqStep = createRequestTransformStep('transform-request-jq', context =>
  createJqTransforms(context.version.endpoints.transformJq, 'request', context),
);

export const transformResponseJqStep = createResponseTransformStep('transform-response-jq', context =>
  createJqTransforms(context.version.endpoints.transformJqResponse, 'response', context),
);
