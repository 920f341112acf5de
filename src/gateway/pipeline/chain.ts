import type { MaybePromise } from '#base/maybe-promise.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { BodyCapture, Chain, Exchange, StepResult, UpstreamResult } from './exchange.ts';

/** Runs the request phase; synchronous as long as every step is. */
export function runRequestSteps(
  { request: steps }: Pick<Chain, 'request'>,
  call: Exchange,
  from = 0,
): MaybePromise<StepResult> {
  for (let i = from; i < steps.length; i++) {
    const result = steps[i]!(call);
    if (result === undefined) continue;
    if (!(result instanceof Promise)) return result;
    const next = i + 1;
    return result.then(value => value ?? runRequestSteps({ request: steps }, call, next));
  }
  return undefined;
}

/** Runs the response phase, whether a step, the gateway or the upstream made the response. */
export function runResponseSteps(
  { response: steps }: Pick<Chain, 'response'>,
  call: Exchange,
  response: GatewayResponse,
  from = 0,
): MaybePromise<void> {
  for (let i = from; i < steps.length; i++) {
    const pending = steps[i]!(call, response);
    if (!(pending instanceof Promise)) continue;
    const next = i + 1;
    return pending.then(() => runResponseSteps({ response: steps }, call, response, next));
  }
}

/** True when a step reads the whole body of this response. */
export function buffersResponse({ buffersResponse: hooks }: Chain, call: Exchange, response: GatewayResponse): boolean {
  for (const hook of hooks) if (hook(call, response)) return true;
  return false;
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
