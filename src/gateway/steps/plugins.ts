import { noBytes } from '../http/body.ts';
import type { Exchange, StepHooks, StepResult } from '../pipeline/exchange.ts';
import type { Step, StepContext, StepReads } from '../pipeline/step.ts';
import { type HookReturn, needsSession, type PluginHook, pluginReads } from '../plugins/driver.ts';
import { loadApiPlugins } from '../plugins/plugin-set.ts';
import { applyRequestResult, readResultObject } from '../plugins/request-hook.ts';
import { failPlugin, logMessages, runPlugin } from '../plugins/run-hook.ts';
import type { PluginServices } from '../plugins/services.ts';
import { updateMetadata } from '../plugins/session-metadata.ts';

const reads = { ...pluginReads, also: { api: ['listen'] } } as const satisfies StepReads;

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

function buildRequestHooks(context: Context, list: 'pre' | 'postAuth' | 'post'): StepHooks | undefined {
  const plugins = loadApiPlugins(context);
  const hooks = plugins?.hooks[list] ?? [];
  if (!plugins || hooks.length === 0) return undefined;
  const { driver } = plugins;
  const { model, services } = context;
  const { settings } = services;
  const rules = { stripsListenPath: model.listen.strip, skipsResponseSteps: list === 'pre' };
  const maxBytes = settings['gateway.max_buffered_body_bytes'];

  function runHook(call: Exchange, hook: PluginHook, body: Buffer): StepResult | Promise<StepResult> {
    const apply = ({ members, logs }: HookReturn): StepResult => {
      logMessages(services, call, logs);
      if (needsSession(hook, list)) updateMetadata(services, call, members.SessionMeta);
      return applyRequestResult(call, readResultObject(members.Request, 'Request'), rules);
    };
    return runPlugin(
      () => driver.runRequestHook(hook, list, call, body),
      apply,
      error => failPlugin(services, call, error, 'plugin_failed'),
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

  return {
    request(call) {
      if (list === 'postAuth' && call.session === undefined) return undefined;
      if (call.upgrade === '' && call.body.stream) return call.body.read(maxBytes).then(() => runFrom(call, 0));
      return runFrom(call, 0);
    },
  };
}
