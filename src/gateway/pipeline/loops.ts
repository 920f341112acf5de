/**
 * What a `gw://` address says about the call it hands on: parameters of its own that never leave the gateway. Only what
 * is written in the address survives of a query; the caller's own does not.
 */
export interface LoopControls {
  readonly query: string;
  /** Empty: as the call has it. */
  readonly method: string;
  /** 0: the gateway's own limit. */
  readonly limit: number;
  readonly checksLimits: boolean;
}

/** Loops run on one call stack, so the limit of an address is held to the most that the setting of the gateway allows. */
export const maxLoopLimit = 100;

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
