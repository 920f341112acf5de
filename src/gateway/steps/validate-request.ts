import { faultsText } from '#languages/json-schema/error-text.ts';
import { Exhausted, Run } from '#languages/json-schema/run.ts';
import { noBytes } from '../http/body.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Step } from '../pipeline/step.ts';
import { type BodyCheck, bodyCheck } from '../validation/bodies.ts';
import { openApiOf, readable } from '../validation/document.ts';
import { type Candidate, operationMatcher } from '../validation/operations.ts';
import { type ParameterCheck, type Places, parameterCheck, parametersOf } from '../validation/parameters.ts';
import { cookiesOf, pairsOf } from '../validation/styles.ts';

interface Checks {
  readonly status: number;
  readonly parameters: readonly ParameterCheck[];
  readonly body: BodyCheck | undefined;
}

/** Calls are checked against what the OpenAPI document says of their operation. */
export const validateRequest: Step = {
  name: 'validate-request',
  build(context) {
    const { model, version, services } = context;
    if (!model.document || version.endpoints.validateRequest.length === 0) return undefined;
    const find = readable(() => {
      const document = openApiOf(model.document!);
      return operationMatcher(version.endpoints.validateRequest, document, context, (entry, { item, operation }) => ({
        status: entry.errorResponseCode || 422,
        parameters: parametersOf(item, operation, document).map(it => parameterCheck(it, document)),
        body: bodyCheck(operation, document, services.settings['gateway.body_values']),
      }));
    });
    if (!find) return undefined;
    const most = services.settings['gateway.held_body_bytes'];
    return {
      request(call) {
        const found = find(call);
        if (found === undefined) return undefined;
        if (found === 'unfit')
          return refuse(call, 'request_invalid', { detail: "path parameter doesn't match any endpoint" });
        const { made } = found;
        if (!made) return undefined;
        if (!made.body || call.body.stream === undefined) return checked(call, found, made, call.body.bytes ?? noBytes);
        return call.body.read(most).then(bytes => checked(call, found, made, bytes));
      },
    };
  },
};

function checked(call: Exchange, found: Candidate<Checks>, made: Checks, bytes: Buffer): GatewayResponse | undefined {
  const run = new Run();
  try {
    const places = placesOf(call, found);
    for (const check of made.parameters) check(places, run);
    made.body?.(bytes, call.headers, run);
  } catch (error) {
    if (!(error instanceof Exhausted)) throw error;
    run.path.length = 0;
    run.quiet = 0;
    run.fault(error.message);
  }
  if (run.faults.length === 0) return undefined;
  const refused = refuse(call, 'request_invalid', { detail: faultsText(run.faults, 'call') });
  refused.status = made.status;
  return refused;
}

const placesOf = (call: Exchange, { values }: Candidate<Checks>): Places => ({
  path: values(call.innerPath),
  query: pairsOf(call.query),
  headers: call.headers,
  cookies: cookiesOf(call.headers.all('cookie').join('; ')),
});
