import { isObject } from '#base/json-tree.ts';
import { noBytes } from '../http/body.ts';
import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import type { Step, StepContext, StepReads } from '../pipeline/step.ts';
import { withPluginReads } from '../plugins/driver.ts';
import { watchHook } from '../plugins/hook-changes.ts';
import { createApiHostCall } from '../plugins/host-functions.ts';
import { type HookResult, PluginError } from '../plugins/plugin-runner.ts';
import { loadApiPlugins } from '../plugins/plugin-set.ts';
import {
  type ApplyRules,
  createPluginResponse,
  encodeRequestCall,
  parseResult,
  readResultText,
} from '../plugins/request-hook.ts';
import { failPlugin, logMessages, runPlugin } from '../plugins/run-hook.ts';
import type { PluginServices } from '../plugins/services.ts';
import { encodeSession } from '../plugins/session.ts';
import { updateMetadata } from '../plugins/session-metadata.ts';

const reads = withPluginReads('listen') satisfies StepReads;

/** Virtual endpoints: a script responds in place of the upstream. */
export const virtualEndpointStep: Step<PluginServices, typeof reads> = {
  name: 'virtual-endpoint',
  reads,
  build: buildVirtualEndpoints,
};

function buildVirtualEndpoints(context: StepContext<PluginServices, typeof reads>) {
  const { model, version, services } = context;
  const entries = version.endpoints.virtualEndpoint.filter(({ enabled }) => enabled);
  const endpoints = createEndpointMatcher(entries, { ...context, settings: services.settings });
  const scripts = endpoints && loadApiPlugins(context)?.virtualScripts;
  if (!endpoints || !scripts) return undefined;
  const host = createApiHostCall(services, model);
  const rules = { stripsListenPath: model.listen.strip, skipsResponseSteps: false };
  const maxBytes = services.settings['gateway.max_buffered_body_bytes'];

  function respond(call: Exchange, entry: (typeof entries)[number]): StepResult | Promise<StepResult> {
    const session = entry.requireSession ? encodeSession(call) : '';
    const head = encodeRequestCall('virtual', entry.functionName, call, session);
    const finish = watchHook(call, entry.functionName);
    const apply = (result: HookResult): StepResult => {
      logMessages(services, call, result.logs);
      const given = parseResult(result.text);
      if (session !== '') updateMetadata(services, call, given.SessionMeta, { allowsAnyValue: true });
      const response = toVirtualResponse(call, given, rules);
      finish?.();
      return response;
    };
    const fail = (error: PluginError): StepResult => {
      finish?.(error);
      const refusal = failPlugin(services, call, error, 'virtual_endpoint_failed');
      if (!entry.proxyOnError) return refusal;
      call.errorCode = '';
      return undefined;
    };
    const body = (call.body.bytes ?? noBytes).toString();
    return runPlugin(() => scripts!.run({ head, body }, host), apply, fail);
  }

  return {
    request(call: Exchange): StepResult | Promise<StepResult> {
      const entry = endpoints.find(call);
      if (!entry) return undefined;
      return call.body.stream ? call.body.read(maxBytes).then(() => respond(call, entry)) : respond(call, entry);
    },
  };
}

/** Response that the function of a virtual endpoint returned. */
export function toVirtualResponse(call: Exchange, given: Record<string, unknown>, rules: ApplyRules): StepResult {
  const status = given.Code === undefined || given.Code === 0 ? 200 : Number(given.Code);
  const body = readResultText(given.Body, 'Body') ?? '';
  return createPluginResponse(call, { status, headers: readHeaders(given.Headers), body, isRaw: true }, rules);
}

/** Texts, or lists of which the first counts. */
function readHeaders(value: unknown): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw new PluginError('runtime', 'Headers must be an object');
  return Object.fromEntries(
    Object.entries(value).map(([name, it]) => {
      const first: unknown = Array.isArray(it) ? it[0] : it;
      if (typeof first !== 'string') throw new PluginError('runtime', `the header ${name} must be a string`);
      return [name, first];
    }),
  );
}
