import { noBytes, problem } from '../http/body.ts';
import { type GatewayResponse, isStreaming } from '../http/response.ts';
import type { Exchange, StepHooks } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import type { Step, StepReads } from '../pipeline/step.ts';
import { type BodyData, type BodyFormat, InvalidBody, parseBodyData } from '../transform/body-data.ts';
import {
  type BodyTransform,
  createBodyTransforms,
  isTransformError,
  removeStaleHeaders,
  type TransformError,
} from '../transform/body-transform.ts';
import {
  ContentCodingError,
  decodeContent,
  decompressionBounds,
  isEncoded,
  supportedCodings,
} from '../transform/content-coding.ts';
import type { TransformServices, Transforms } from './transform-request-body.ts';

const reads = {
  endpoints: ['transformResponseBody'],
  also: { api: ['contextVariables'] },
} as const satisfies StepReads;

/** Response body transform by template. */
export const transformResponseBodyStep: Step<TransformServices, typeof reads> = {
  name: 'transform-response-body',
  reads,
  build(context) {
    const parse = passesFailures(context.services) ? parseLeniently : parseBodyData;
    const transforms = createBodyTransforms(context.version.endpoints.transformResponseBody, context, parse);
    return buildResponseTransform(transforms, context.services);
  },
};

const passesFailures = ({ settings }: TransformServices) => settings['transforms.on_failure'] === 'pass';

/** Hooks of a response transform. A failure becomes an error unless `transforms.on_failure` is `pass`. */
export function buildResponseTransform(matcher: Transforms, services: TransformServices): StepHooks | undefined {
  if (!matcher) return undefined;
  const { log, settings } = services;
  const bounds = decompressionBounds(settings);
  const isLenient = passesFailures(services);

  const fail = (
    call: Exchange,
    response: GatewayResponse,
    { path }: BodyTransform,
    error: TransformError | ContentCodingError,
  ): void => {
    log.warn({ api: call.api?.id, endpoint: path, reason: error.message }, 'response body transform failed');
    handleFailure(call, response, error, isLenient);
  };

  const findTransform = (call: Exchange, response: GatewayResponse) =>
    hasBody(response) && !isStreaming(response) ? matcher.find(call) : undefined;

  function transformBody(call: Exchange, response: GatewayResponse, transform: BodyTransform, bytes: Buffer): void {
    const error = applyTransform(call, response, transform, bytes);
    if (error) fail(call, response, transform, error);
  }

  async function decodeAndTransform(
    call: Exchange,
    response: GatewayResponse,
    transform: BodyTransform,
    coding: string,
  ) {
    try {
      transformBody(call, response, transform, await decodeContent(response.body.bytes ?? noBytes, coding, bounds));
    } catch (error) {
      if (error instanceof ContentCodingError) fail(call, response, transform, error);
      else if ((error as { code?: string }).code === problem.too_large.code)
        replaceWithError(call, response, 'response_too_large');
      else throw error;
    }
  }

  return {
    request(call) {
      if (matcher.find(call)) requestWholeBody(call);
      return undefined;
    },
    buffersResponse: (call, response) => findTransform(call, response) !== undefined,
    response(call, response) {
      const transform = findTransform(call, response);
      if (!transform) return;
      if (isHead(call) && response.body.bytes === undefined) {
        // The length of a body that was not transformed is unknown.
        response.headers.remove('content-length');
        return;
      }
      const coding = response.headers.get('content-encoding');
      if (isEncoded(coding)) return decodeAndTransform(call, response, transform, coding);
      transformBody(call, response, transform, response.body.bytes ?? noBytes);
    },
  };
}

/** Replaces the body; returns the error of a template, filter or body. */
function applyTransform(
  call: Exchange,
  { headers, body }: GatewayResponse,
  transform: BodyTransform,
  bytes: Buffer,
): TransformError | undefined {
  try {
    const transformed = transform.write(call, bytes, headers);
    if (!transformed) return undefined;
    body.replace(transformed);
    removeStaleHeaders(headers);
    headers.remove('accept-ranges');
    return undefined;
  } catch (error) {
    if (!isTransformError(error)) throw error;
    return error;
  }
}

function handleFailure(
  call: Exchange,
  response: GatewayResponse,
  error: TransformError | ContentCodingError,
  isLenient: boolean,
): void {
  if (!(error instanceof ContentCodingError) && error.isLimitExceeded)
    return replaceWithError(call, response, 'response_transform_limit');
  if (isLenient) return;
  if (!(error instanceof ContentCodingError || error instanceof InvalidBody))
    return replaceWithError(call, response, 'response_transform_failed');
  // An upstream error keeps its status, which is more specific than the failure to parse its page.
  const { status } = response;
  replaceWithError(call, response, 'response_body_unreadable');
  if (status >= 400) response.status = call.status = status;
}

/** Transforms need the whole body, in a supported coding. */
function requestWholeBody({ headers }: Exchange): void {
  headers.remove('range');
  headers.remove('if-range');
  if (headers.has('accept-encoding')) headers.set('Accept-Encoding', supportedCodings);
}

const isHead = ({ upstreamMethod, method }: Exchange) => (upstreamMethod ?? method) === 'HEAD';
const hasBody = ({ status }: GatewayResponse) => status !== 101 && status !== 204 && status !== 304;

/** Template data of a response; an invalid body is an empty object. */
function parseLeniently(bytes: Buffer, format: BodyFormat, maxValues: number): BodyData {
  try {
    return parseBodyData(bytes, format, maxValues);
  } catch (error) {
    if (error instanceof InvalidBody && !error.isLimitExceeded) return {};
    throw error;
  }
}

/** Replaces the upstream response by an error. */
function replaceWithError(call: Exchange, response: GatewayResponse, code: RefusalCode): void {
  const refusal = refuse(call, code);
  response.status = refusal.status;
  response.headers.flat.splice(0, response.headers.flat.length, ...refusal.headers.flat);
  response.body = refusal.body;
  call.status = refusal.status;
}
