import { noBytes } from '../http/body.ts';
import { type GatewayResponse, isStreaming } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Step, StepContext } from '../pipeline/step.ts';
import { type HookReturn, type PluginHook, pluginReads } from '../plugins/driver.ts';
import { watchHook } from '../plugins/hook-changes.ts';
import { PluginError } from '../plugins/plugin-runner.ts';
import { loadApiPlugins } from '../plugins/plugin-set.ts';
import {
  applyHeaders,
  bodyHeaders,
  readResultBody,
  readResultObject,
  replaceHeaders,
} from '../plugins/request-hook.ts';
import { failPlugin, logMessages, runPlugin } from '../plugins/run-hook.ts';
import type { PluginServices } from '../plugins/services.ts';
import { ContentCodingError, decodeContent, decompressionBounds, isEncoded } from '../transform/content-coding.ts';

const reads = pluginReads;

/** Plugins of the response phase. */
export const responsePluginsStep: Step<PluginServices, typeof reads> = {
  name: 'response-plugins',
  reads,
  build: buildResponsePlugins,
};

function buildResponsePlugins(context: StepContext<PluginServices, typeof reads>) {
  const plugins = loadApiPlugins(context);
  const hooks = plugins?.hooks.response ?? [];
  if (!plugins || hooks.length === 0) return undefined;
  const { driver } = plugins;
  const { services } = context;
  const bounds = decompressionBounds(services.settings);

  function runHook(call: Exchange, response: GatewayResponse, hook: PluginHook): void | Promise<void> {
    const finish = watchHook(call, hook.functionName, response);
    const apply = ({ members, logs }: HookReturn): void => {
      logMessages(services, call, logs);
      applyResponseResult(call, response, readResultObject(members.Response, 'Response'));
      finish?.();
    };
    const fail = (error: PluginError): void => {
      finish?.(error);
      replaceByError(call, response, failPlugin(services, call, error, 'response_plugin_failed'));
    };
    const run = (body: Buffer) => runPlugin(() => driver.runResponseHook(hook, call, response, body), apply, fail);
    const bytes = response.body.bytes ?? noBytes;
    const coding = response.headers.get('content-encoding');
    if (!isEncoded(coding)) return run(bytes);
    return decodeContent(bytes, coding, bounds).then(run, error => {
      if (!(error instanceof ContentCodingError)) throw error;
      fail(new PluginError('runtime', error.message));
    });
  }

  function runFrom(call: Exchange, response: GatewayResponse, index: number): void | Promise<void> {
    for (let i = index; i < hooks.length; i++) {
      const pending = runHook(call, response, hooks[i]!);
      if (pending instanceof Promise) return pending.then(() => runFrom(call, response, i + 1));
    }
  }

  return {
    request({ headers }: Exchange): undefined {
      // Hooks get the whole body as text.
      headers.remove('range');
      headers.remove('if-range');
      if (headers.has('accept-encoding')) headers.set('Accept-Encoding', 'identity');
    },
    buffersResponse: (_call: Exchange, response: GatewayResponse) => isReadable(response),
    response: (call: Exchange, response: GatewayResponse) =>
      isReadable(response) ? runFrom(call, response, 0) : undefined,
  };
}

/** Streams and upgrades pass without a hook: their end may never come. */
const isReadable = (response: GatewayResponse): boolean => response.status !== 101 && !isStreaming(response);

/** Applies the result of a response hook. */
export function applyResponseResult(call: Exchange, response: GatewayResponse, given: Record<string, unknown>): void {
  applyHeaders(response.headers, given);
  const body = readResultBody(given.Body);
  if (body !== undefined) {
    response.body.replace(body);
    response.headers.removeAll(bodyHeaders);
  }
  if (Array.isArray(given.HeaderList)) replaceHeaders(response.headers, given.HeaderList as string[]);
  const status = Number(given.StatusCode ?? 0);
  if (status === 0) return;
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new PluginError('runtime', `the status ${status} is not from 200 to 599`);
  response.status = call.status = status;
}

function replaceByError(call: Exchange, response: GatewayResponse, refusal: GatewayResponse): void {
  response.status = call.status = refusal.status;
  response.headers.flat.splice(0, response.headers.flat.length, ...refusal.headers.flat);
  response.body = refusal.body;
}
