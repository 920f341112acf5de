import type { MaybePromise } from '#base/maybe-promise.ts';
import { noBytes } from '../http/body.ts';
import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange, StepHooks, StepResult } from '../pipeline/exchange.ts';
import type { Step, StepContext, StepReads } from '../pipeline/step.ts';
import { type HookReturn, needsSession, type PluginHook, withPluginReads } from '../plugins/driver.ts';
import { watchHook } from '../plugins/hook-changes.ts';
import { loadApiPlugins } from '../plugins/plugin-set.ts';
import { applyRequestResult, readResultObject } from '../plugins/request-hook.ts';
import { failPlugin, logMessages, runPlugin } from '../plugins/run-hook.ts';
import type { PluginServices } from '../plugins/services.ts';
import { updateMetadata } from '../plugins/session-metadata.ts';

const reads = withPluginReads('listen') satisfies StepReads;

type Context = StepContext<PluginServices, typeof reads>;

/** Plugins before authentication. */
export const prePluginsStep: Step<PluginServices, typeof reads> = {
  name: 'pre-plugins',
  reads,
  build: context => buildRequestHooks(context, 'pre'),
};

/** Plugins after authentication; an API without authentication has none to run after. */
export const postAuthPluginsStep: Step<PluginServices, typeof reads> = {
  name: 'post-auth-plugins',
  reads,
  build: context => buildRequestHooks(context, 'postAuth'),
};

/** Plugins before the upstream request. */
export const postPluginsStep: Step<PluginServices, typeof reads> = {
  name: 'post-plugins',
  reads,
  build: context => buildRequestHooks(context, 'post'),
};

/** Plugins of single endpoints. */
export const endpointPluginsStep: Step<PluginServices, typeof reads> = {
  name: 'endpoint-plugins',
  reads,
  build(context) {
    const { version, services } = context;
    const entries = version.endpoints.endpointPlugin.filter(({ enabled }) => enabled);
    const endpoints = createEndpointMatcher(
      entries.map(({ path, method }, index) => ({ path, method, index })),
      { ...context, settings: services.settings },
    );
    const hooks = (endpoints && loadApiPlugins(context)?.hooks.endpoint) ?? [];
    const runners = hooks.map(hook => createHookRunner(context, 'endpoint', [hook]));
    return endpoints && { request: call => runners[endpoints.find(call)?.index ?? -1]?.(call) };
  },
};

function buildRequestHooks(context: Context, list: 'pre' | 'postAuth' | 'post'): StepHooks | undefined {
  const hooks = loadApiPlugins(context)?.hooks[list] ?? [];
  if (hooks.length === 0) return undefined;
  const run = createHookRunner(context, list, hooks);
  if (list !== 'postAuth') return { request: run };
  return { request: call => (call.session === undefined ? undefined : run(call)) };
}

type RunHooks = (call: Exchange) => MaybePromise<StepResult>;

/** Runs hooks in order, until one responds. */
function createHookRunner(
  context: Context,
  list: 'pre' | 'postAuth' | 'post' | 'endpoint',
  hooks: readonly PluginHook[],
): RunHooks {
  const { driver } = loadApiPlugins(context)!;
  const { model, services } = context;
  const { settings } = services;
  const rules = { stripsListenPath: model.listen.strip, skipsResponseSteps: list === 'pre' };
  const maxBytes = settings['gateway.max_buffered_body_bytes'];

  function runHook(call: Exchange, hook: PluginHook, body: Buffer): StepResult | Promise<StepResult> {
    const finish = watchHook(call, hook.functionName);
    const apply = ({ members, logs }: HookReturn): StepResult => {
      logMessages(services, call, logs);
      if (needsSession(hook, list)) updateMetadata(services, call, members.SessionMeta);
      const response = applyRequestResult(call, readResultObject(members.Request, 'Request'), rules);
      finish?.();
      return response;
    };
    return runPlugin(
      () => driver.runRequestHook(hook, list, call, body),
      apply,
      error => {
        finish?.(error);
        return failPlugin(services, call, error, 'plugin_failed');
      },
    );
  }

  function runFrom(call: Exchange, index: number): StepResult | Promise<StepResult> {
    for (let i = index; i < hooks.length; i++) {
      const result = runHook(call, hooks[i]!, call.body.bytes ?? noBytes);
      if (result instanceof Promise) return result.then(value => value ?? runFrom(call, i + 1));
      if (result) return result;
    }
    return undefined;
  }

  return call =>
    call.upgrade === '' && call.body.stream ? call.body.read(maxBytes).then(() => runFrom(call, 0)) : runFrom(call, 0);
}
