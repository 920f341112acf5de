import { formatViolations } from '#languages/json-schema/error-text.ts';
import { BudgetExceeded, ValidationRun } from '#languages/json-schema/run.ts';
import { noBytes } from '../http/body.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepReads } from '../pipeline/step.ts';
import { type BodyValidator, compileBodyValidator } from '../validation/body-validator.ts';
import { compileOpenApiDocument, rejectUnreadable } from '../validation/openapi-document.ts';
import { type Candidate, createOperationMatcher } from '../validation/operation-matcher.ts';
import { parseCookiePairs, parseQueryPairs } from '../validation/parameter-styles.ts';
import {
  collectParameters,
  compileParameterValidator,
  type ParameterSources,
  type ParameterValidator,
} from '../validation/parameter-validator.ts';

interface RequestValidators {
  readonly status: number;
  readonly parameters: readonly ParameterValidator[];
  readonly body: BodyValidator | undefined;
}

type Services = Pick<PipelineServices, 'settings'>;

const reads = { endpoints: ['validateRequest'], also: { api: ['document'] } } as const satisfies StepReads;

/** Request validation against the operation of the OpenAPI document. */
export const validateRequestStep: Step<Services, typeof reads> = {
  name: 'validate-request',
  reads,
  build(context) {
    const { model, version, services } = context;
    if (!model.document || version.endpoints.validateRequest.length === 0) return undefined;
    const find = rejectUnreadable(() => {
      const document = compileOpenApiDocument(model.document!);
      return createOperationMatcher(
        version.endpoints.validateRequest,
        document,
        context,
        (entry, { item, operation }) => ({
          status: entry.errorResponseCode || 422,
          parameters: collectParameters(item, operation, document).map(it => compileParameterValidator(it, document)),
          body: compileBodyValidator(operation, document, services.settings['gateway.max_body_values']),
        }),
      );
    });
    if (!find) return undefined;
    const maxBodyBytes = services.settings['gateway.max_buffered_body_bytes'];
    return {
      request(call) {
        const candidate = find(call);
        if (candidate === undefined) return undefined;
        if (candidate === 'unfit')
          return refuse(call, 'request_invalid', { detail: "path parameter doesn't match any endpoint" });
        const { compiled: validators } = candidate;
        if (!validators) return undefined;
        if (!validators.body || call.body.stream === undefined)
          return validate(call, candidate, validators, call.body.bytes ?? noBytes);
        return call.body.read(maxBodyBytes).then(bytes => validate(call, candidate, validators, bytes));
      },
    };
  },
};

function validate(
  call: Exchange,
  candidate: Candidate<RequestValidators>,
  validators: RequestValidators,
  bytes: Buffer,
): GatewayResponse | undefined {
  const run = new ValidationRun();
  try {
    const sources = readSources(call, candidate);
    for (const check of validators.parameters) check(sources, run);
    validators.body?.(bytes, call.headers, run);
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error;
    run.path.length = 0;
    run.silentDepth = 0;
    run.report(error.message);
  }
  if (run.violations.length === 0) return undefined;
  const refused = refuse(call, 'request_invalid', { detail: formatViolations(run.violations, 'call') });
  refused.status = validators.status;
  return refused;
}

const readSources = (call: Exchange, { values }: Candidate<RequestValidators>): ParameterSources => ({
  path: values(call.innerPath),
  query: parseQueryPairs(call.query),
  headers: call.headers,
  cookies: parseCookiePairs(call.headers),
});
