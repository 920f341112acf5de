import type { MaybePromise } from '#base/maybe-promise.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { BodyCapture, Chain, Exchange, StepResult, StreamTransform, UpstreamResult } from './exchange.ts';

/** Hooks of one phase; the names are for the spans of steps that wait. */
type Phase<Name extends 'request' | 'response'> = Pick<Chain, Name> & Partial<Pick<Chain, 'names'>>;

/** Runs the request phase; synchronous as long as every step is. */
export function runRequestSteps(chain: Phase<'request'>, call: Exchange, from = 0): MaybePromise<StepResult> {
  const steps = chain.request;
  for (let i = from; i < steps.length; i++) {
    const result = steps[i]!(call);
    if (result === undefined) continue;
    if (!(result instanceof Promise)) return result;
    const next = i + 1;
    const waitsSince = performance.now();
    return result.then(value => {
      if (call.trace !== undefined) traceWait(call, chain.names?.request[i], waitsSince);
      return value ?? runRequestSteps(chain, call, next);
    });
  }
  return undefined;
}

/** Runs the response phase, whether a step, the gateway or the upstream made the response. */
export function runResponseSteps(
  chain: Phase<'response'>,
  call: Exchange,
  response: GatewayResponse,
  from = 0,
): MaybePromise<void> {
  const steps = chain.response;
  for (let i = from; i < steps.length; i++) {
    const pending = steps[i]!(call, response);
    if (!(pending instanceof Promise)) continue;
    const next = i + 1;
    const waitsSince = performance.now();
    return pending.then(() => {
      if (call.trace !== undefined) traceWait(call, chain.names?.response[i], waitsSince);
      return runResponseSteps(chain, call, response, next);
    });
  }
}

/** Shorter waits get no span: the lookup was answered from memory. */
const minTracedWaitMs = 1;

/** Span of a step that waited for input or output. With detailed tracing every step has one already. */
function traceWait({ trace }: Exchange, name: string | undefined, waitsSince: number): void {
  const now = performance.now();
  if (!trace!.isDetailed && name !== undefined && now - waitsSince >= minTracedWaitMs)
    trace!.addStep(name, waitsSince, now);
}

/** True when a step reads the whole body of this response. */
export function buffersResponse({ buffersResponse: hooks }: Chain, call: Exchange, response: GatewayResponse): boolean {
  for (const hook of hooks) if (hook(call, response)) return true;
  return false;
}

/** The response that a step sends in place of an upstream response; undefined without one. */
export function finalizeResponse(
  { finalizeResponse: hooks }: Chain,
  call: Exchange,
  response: GatewayResponse,
): StepResult {
  for (const hook of hooks) {
    const replacement = hook(call, response);
    if (replacement) return replacement;
  }
  return undefined;
}

/** The response that a step sends where the upstream has none; undefined without one. */
export function replaceRefusal({ replaceRefusal: hooks }: Chain, call: Exchange): StepResult {
  for (const hook of hooks) {
    const replacement = hook(call);
    if (replacement) return replacement;
  }
  return undefined;
}

/** Headers that steps add to a refusal. */
export function notifyRefusal({ onRefusal }: Chain, call: Exchange, response: GatewayResponse): void {
  for (const hook of onRefusal) hook(call, response);
}

/** The transform of this response body, whose length is then unknown; undefined without one. */
export function startBodyTransform(call: Exchange, response: GatewayResponse): StreamTransform | undefined {
  for (const hook of call.chain?.transformBody ?? []) {
    const transform = hook(call, response);
    if (!transform) continue;
    response.headers.remove('content-length');
    return transform;
  }
  return undefined;
}

/** Body captures for this response; undefined without any, which costs no allocation. */
export function collectBodyCaptures(
  { captureBody: hooks }: Chain,
  call: Exchange,
  response: GatewayResponse,
): BodyCapture[] | undefined {
  let captures: BodyCapture[] | undefined;
  for (const hook of hooks) {
    const capture = hook(call, response);
    if (!capture) continue;
    captures ??= [];
    captures.push(capture);
  }
  return captures;
}

export function notifyFinished({ onFinish }: Chain, call: Exchange): void {
  for (const hook of onFinish) hook(call);
}

export function notifyUpstreamResult({ onUpstreamResult }: Chain, call: Exchange, result: UpstreamResult): void {
  for (const hook of onUpstreamResult) hook(call, result);
}
