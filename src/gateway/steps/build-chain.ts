import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Settings } from '#base/settings.ts';
import type { Chain, Exchange, StepHooks } from '../pipeline/exchange.ts';
import type { ChainContext, ChainStep } from '../pipeline/step.ts';
import { order } from './order.ts';
import type { StepServices } from './step-services.ts';

/** Shared by all chains: with many APIs the list stays in the processor cache. */
const noHooks: readonly never[] = [];

/** Chain of definitions without steps of their own: they share one. */
const sharedChains = new WeakMap<Settings, Chain>();

export function buildChain(context: ChainContext<StepServices>): Chain {
  const { settings } = context.services;
  const isTraced = context.model.detail.tracing && settings['tracing.endpoint'] !== '';
  const steps = order.flatMap(({ step }) => {
    const hooks = step.build(context);
    return hooks ? [{ step, hooks: isTraced ? traceHooks(step.name, hooks) : hooks }] : [];
  });
  if (!steps.every(({ step }) => step.isDefinitionIndependent)) return assembleChain(steps);
  const chain = sharedChains.get(settings) ?? assembleChain(steps);
  sharedChains.set(settings, chain);
  return chain;
}

function assembleChain(steps: readonly { readonly step: ChainStep<StepServices>; readonly hooks: StepHooks }[]): Chain {
  function collectHooks<Hook extends keyof StepHooks>(hook: Hook): readonly NonNullable<StepHooks[Hook]>[] {
    const list = steps.flatMap(({ hooks }) => hooks[hook] ?? []);
    return list.length === 0 ? noHooks : list;
  }
  const collectNames = (hook: keyof StepHooks) => steps.filter(({ hooks }) => hooks[hook]).map(({ step }) => step.name);
  return {
    request: collectHooks('request'),
    response: collectHooks('response'),
    buffersResponse: collectHooks('buffersResponse'),
    finalizeResponse: collectHooks('finalizeResponse'),
    replaceRefusal: collectHooks('replaceRefusal'),
    onRefusal: collectHooks('onRefusal'),
    transformBody: collectHooks('transformBody'),
    captureBody: collectHooks('captureBody'),
    onUpstreamResult: collectHooks('onUpstreamResult'),
    onFinish: collectHooks('onFinish'),
    names: { request: collectNames('request'), response: collectNames('response') },
  };
}

/** Detailed tracing: measures the hooks of a step, so that each run becomes a span. */
function traceHooks(name: string, hooks: StepHooks): StepHooks {
  const { request, response } = hooks;
  return {
    ...hooks,
    ...(request && { request: call => measureStep(call, name, () => request(call)) }),
    ...(response && { response: (call, result) => measureStep(call, name, () => response(call, result)) }),
  };
}

function measureStep<T>(call: Exchange, name: string, run: () => MaybePromise<T>): MaybePromise<T> {
  const startedAt = performance.now();
  const end = (value: T): T => {
    call.trace?.addStep(name, startedAt, performance.now());
    return value;
  };
  const result = run();
  return result instanceof Promise ? result.then(end) : end(result);
}
