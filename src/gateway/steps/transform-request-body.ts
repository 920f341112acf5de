import { escapeQuery } from '#languages/go-template/escape-query.ts';
import { noBytes } from '../http/body.ts';
import type { EndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange, StepHooks, StepResult } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepContext, StepReads } from '../pipeline/step.ts';
import { InvalidBody, parseBodyData } from '../transform/body-data.ts';
import {
  type BodyTransform,
  createBodyTransforms,
  isTransformError,
  removeStaleHeaders,
  type TransformError,
} from '../transform/body-transform.ts';
import { ContentCodingError, decodeContent, decompressionBounds, isEncoded } from '../transform/content-coding.ts';
import { parseVariables, resolveVariable, type VariableServices } from '../variables/variables.ts';

/** Transforms by endpoint; undefined without any. */
export type Transforms = EndpointMatcher<BodyTransform> | undefined;
/** Services of request and response transforms. */
export type TransformServices = Pick<PipelineServices, 'log' | 'settings'>;

const reads = {
  endpoints: ['transformRequestBody'],
  also: { api: ['contextVariables'] },
} as const satisfies StepReads;

/** Request body transform by template. */
export const transformRequestBodyStep: Step<TransformServices & VariableServices, typeof reads> = {
  name: 'transform-request-body',
  reads,
  build: context => buildRequestTransform(compileTransforms(context), context.services),
};

function compileTransforms(context: StepContext<TransformServices & VariableServices, typeof reads>) {
  const { version, services } = context;
  const texts = (text: string) =>
    parseVariables(text, services).map(part =>
      typeof part === 'string' ? part : (about: unknown) => escapeValue(resolveVariable(part, about as Exchange)),
    );
  return createBodyTransforms(version.endpoints.transformRequestBody, context, parseBodyData, texts);
}

/** Hooks of a request transform. A failure refuses the request unless `transforms.on_failure` is `pass`. */
export function buildRequestTransform(matcher: Transforms, services: TransformServices): StepHooks | undefined {
  if (!matcher) return undefined;
  const { settings } = services;
  const bounds = decompressionBounds(settings);
  const passesFailures = settings['transforms.on_failure'] === 'pass';

  function fail(call: Exchange, { path }: BodyTransform, error: TransformError | ContentCodingError): StepResult {
    services.log.warn({ api: call.api?.id, endpoint: path, reason: error.message }, 'request body transform failed');
    const isBound = !(error instanceof ContentCodingError) && error.isLimitExceeded;
    if (passesFailures && !isBound) return undefined;
    if (!(error instanceof ContentCodingError || error instanceof InvalidBody))
      return refuse(call, isBound ? 'request_transform_limit' : 'request_transform_failed');
    const code = isBound ? 'request_values_exceeded' : 'request_body_unreadable';
    return refuse(call, code, { detail: error.message });
  }

  function transformBody(call: Exchange, transform: BodyTransform, bytes: Buffer): StepResult {
    try {
      const body = transform.write(call, bytes, call.headers);
      if (body) {
        call.body.replace(body);
        removeStaleHeaders(call.headers);
      }
      return undefined;
    } catch (error) {
      if (!isTransformError(error)) throw error;
      return fail(call, transform, error);
    }
  }

  async function readAndTransform(
    call: Exchange,
    transform: BodyTransform,
    coding: string | undefined,
  ): Promise<StepResult> {
    const bytes = await call.body.read(bounds.maxBytes);
    try {
      return transformBody(call, transform, isEncoded(coding) ? await decodeContent(bytes, coding, bounds) : bytes);
    } catch (error) {
      if (error instanceof ContentCodingError) return fail(call, transform, error);
      throw error;
    }
  }

  return {
    request(call) {
      if (call.upgrade !== '') return undefined;
      const transform = matcher.find(call);
      if (!transform) return undefined;
      const coding = call.headers.get('content-encoding');
      if (call.body.stream || isEncoded(coding)) return readAndTransform(call, transform, coding);
      return transformBody(call, transform, call.body.bytes ?? noBytes);
    },
  };
}

/** Escapes a variable, so that it cannot break out of its place; a URL stays a URL. */
const escapeValue = (value: string) =>
  value.startsWith('http') ? encodeURI(value.toWellFormed()).replaceAll("'", '%27') : escapeQuery(value);
