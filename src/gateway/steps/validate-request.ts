import { formatViolations } from '#languages/json-schema/error-text.ts';
import { BudgetExceeded, ValidationRun } from '#languages/json-schema/run.ts';
import { noBytes } from '../http/body.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Step } from '../pipeline/step.ts';
import { type BodyValidator, compileBodyValidator } from '../validation/bodies.ts';
import { compileOpenApiDocument, rejectUnreadable } from '../validation/document.ts';
import { type Candidate, createOperationMatcher } from '../validation/operations.ts';
import {
  collectParameters,
  compileParameterValidator,
  type ParameterSources,
  type ParameterValidator,
} from '../validation/parameters.ts';
import { cookiesOf, parseQueryPairs } from '../validation/styles.ts';

interface RequestValidators {
  readonly status: number;
  readonly parameters: readonly ParameterValidator[];
  readonly body: BodyValidator | undefined;
}

/** Calls are checked against what the OpenAPI document says of their operation. */
export const validateRequestStep: Step = {
  name: 'validate-request',
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
        const found = find(call);
        if (found === undefined) return undefined;
        if (found === 'unfit')
          return refuse(call, 'request_invalid', { detail: "path parameter doesn't match any endpoint" });
        const { made } = found;
        if (!made) return undefined;
        if (!made.body || call.body.stream === undefined)
          return validate(call, found, made, call.body.bytes ?? noBytes);
        return call.body.read(maxBodyBytes).then(bytes => validate(call, found, made, bytes));
      },
    };
  },
};

function validate(
  call: Exchange,
  found: Candidate<RequestValidators>,
  made: RequestValidators,
  bytes: Buffer,
): GatewayResponse | undefined {
  const run = new ValidationRun();
  try {
    const places = readSources(call, found);
    for (const check of made.parameters) check(places, run);
    made.body?.(bytes, call.headers, run);
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error;
    run.path.length = 0;
    run.silentDepth = 0;
    run.report(error.message);
  }
  if (run.violations.length === 0) return undefined;
  const refused = refuse(call, 'request_invalid', { detail: formatViolations(run.violations, 'call') });
  refused.status = made.status;
  return refused;
}

const readSources = (call: Exchange, { values }: Candidate<RequestValidators>): ParameterSources => ({
  path: values(call.innerPath),
  query: parseQueryPairs(call.query),
  headers: call.headers,
  cookies: cookiesOf(call.headers.all('cookie').join('; ')),
});
