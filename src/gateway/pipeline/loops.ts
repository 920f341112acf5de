import type { Exchange } from './exchange.ts';
import type { LoopControls } from './upstream-address.ts';

/** Loops run on one call stack, so the limit of a URL is capped at the maximum of the gateway setting. */
const maxLoopLimit = 100;

const methodPattern = /^[A-Z]{1,20}$/;

export function parseLoopControls(query: string): LoopControls {
  const parameters = new URLSearchParams(query);
  const method = (parameters.get('method') ?? '').toUpperCase();
  const limit = Number(parameters.get('loop_limit') ?? 0);
  const rest = query.split('&').filter(pair => pair !== '' && !/^(method|loop_limit|check_limits)(=|$)/.test(pair));
  return {
    query: rest.join('&'),
    method: methodPattern.test(method) ? method : '',
    limit: Number.isInteger(limit) && limit > 0 ? Math.min(limit, maxLoopLimit) : 0,
    checksLimits: parameters.get('check_limits') === 'true',
  };
}

/** The first limit a call is given holds for the rest of it. */
export function applyLoopControls(call: Exchange, controls: LoopControls | undefined): void {
  call.method = call.upstreamMethod ?? call.method;
  call.upstreamMethod = undefined;
  if (!controls) return;
  call.query = controls.query;
  if (controls.method) call.method = controls.method;
  if (call.maxLoops === 0) call.maxLoops = controls.limit;
  call.checkLimitsInLoop = controls.checksLimits;
}

/** A loop is counted against limits once, when it enters the gateway, unless its address has `check_limits=true`. */
export const skipsLimits = ({ loopCount, checkLimitsInLoop }: Exchange): boolean => loopCount > 0 && !checkLimitsInLoop;
