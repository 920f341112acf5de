import type { MaybePromise } from '#base/maybe-promise.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import { PluginError } from './plugin-runner.ts';
import type { PluginServices } from './services.ts';

/** Runs a hook and applies its result; a failure of the plugin, or of its result, becomes the result of `fail`. */
export function runPlugin<R, T>(
  run: () => MaybePromise<R>,
  apply: (result: R) => MaybePromise<T>,
  fail: (error: PluginError) => T,
): MaybePromise<T> {
  const settle = (error: unknown): T => {
    if (error instanceof PluginError) return fail(error);
    throw error;
  };
  try {
    const result = run();
    return result instanceof Promise ? result.then(apply).catch(settle) : apply(result);
  } catch (error) {
    return settle(error);
  }
}

type LogServices = Pick<PluginServices, 'log'>;

export function logMessages({ log }: LogServices, call: Exchange, logs: readonly string[]): void {
  for (const text of logs) log.info({ api: call.api?.id, text }, 'plugin message');
}

export function failPlugin(
  services: LogServices,
  call: Exchange,
  error: PluginError,
  code: RefusalCode,
): GatewayResponse {
  logMessages(services, call, error.logs);
  services.log.warn({ api: call.api?.id, type: error.type, reason: error.message }, 'plugin failed');
  return refuse(call, error.type === 'load' ? 'api_unavailable' : (error.refusal ?? code));
}
