import { jqTransforms } from '../transform/jq-transform.ts';
import { writesRequestBody } from './transform-request-body.ts';
import { writesResponseBody } from './transform-response-body.ts';

/** Filters over bodies, which see and may change more than the body; where they fail it is as with templates. */
export const transformRequestJq = writesRequestBody('transform-request-jq', context =>
  jqTransforms(context.version.endpoints.transformJq, 'request', context),
);

export const transformResponseJq = writesResponseBody('transform-response-jq', context =>
  jqTransforms(context.version.endpoints.transformJqResponse, 'response', context),
);
