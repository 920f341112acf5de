import type { Settings } from '#base/settings.ts';
import type { Chain, StepHooks } from '../pipeline/exchange.ts';
import type { ChainContext, ChainStep } from '../pipeline/step.ts';
import { order } from './order.ts';
import type { StepServices } from './step-services.ts';

/** Shared by all chains: with many APIs the list stays in the processor cache. */
const noHooks: readonly never[] = [];

/** Chain of definitions without steps of their own: they share one. */
const sharedChains = new WeakMap<Settings, Chain>();

export function buildChain(context: ChainContext<StepServices>): Chain {
  const { settings } = context.services;
  const steps = order.flatMap(({ step }) => {
    const hooks = step.build(context);
    return hooks ? [{ step, hooks }] : [];
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
    captureBody: collectHooks('captureBody'),
    onUpstreamResult: collectHooks('onUpstreamResult'),
    onFinish: collectHooks('onFinish'),
    names: { request: collectNames('request'), response: collectNames('response') },
  };
}
