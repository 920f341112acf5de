import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { done, pageNumber, pageOf, statusAnswer } from '#operations/shapes.ts';
import { problem as hookProblem } from '../hooks/problems.ts';
import type { HookStore } from '../hooks/store.ts';
import { problem } from './problems.ts';
import {
  DeliveryShown,
  DeliverySummary,
  deliveryShown,
  deliveryStates,
  deliverySummary,
  inlinePrefix,
} from './schema.ts';
import type { DeliveriesAsked, DeliveryStore } from './store.ts';

export interface DeliveryTools {
  deliveries: DeliveryStore;
  hooks: HookStore;
  settings: Settings;
  clock: Clock;
  /** Has what waits sent at once. */
  wakeSender(): void;
}

const word = z.string().max(100).optional();
const narrowing = {
  event: word.describe('Name of the event'),
  state: z.enum(deliveryStates).optional(),
  api_id: word,
  p: pageNumber,
};
const params = z.object({ deliveryId: z.string() });
const hookParams = z.object({ hookId: z.string().describe('The id of a webhook, or one that begins with inline-') });
const listed = z.object({ deliveries: z.array(DeliverySummary), pages: z.int() });
const declared = { surface: 'dashboard', noun: 'webhooks' } as const;

async function page({ deliveries, settings }: DeliveryTools, asked: DeliveriesAsked, p: number) {
  const found = await deliveries.page(asked, pageOf(p, settings['management.page_size']));
  return { deliveries: found.items.map(deliverySummary), pages: found.pages };
}

async function read({ deliveries }: DeliveryTools, orgId: string, id: string) {
  const found = await deliveries.get(orgId, id);
  if (!found) throw problem.not_found();
  return found;
}

async function retry(tools: DeliveryTools, orgId: string, id: string) {
  const { state } = await read(tools, orgId, id);
  if (state !== 'dead' || (await tools.deliveries.retry(orgId, { id }, tools.clock.now())) === 0)
    throw problem.not_dead({ detail: { state } });
  tools.wakeSender();
  return done('Delivery will be tried again');
}

/** A hook that is gone may have left deliveries; one that never was is not found. */
async function checkHook({ hooks, deliveries }: DeliveryTools, orgId: string, hook: string): Promise<void> {
  if (hook.startsWith(inlinePrefix) || (await hooks.get(orgId, hook))) return;
  const { total } = await deliveries.page({ orgId, hook }, pageOf(1, 1));
  if (total === 0) throw hookProblem.not_found();
}

export const listDeliveries = operation({
  ...declared,
  name: 'listDeliveries',
  method: 'GET',
  path: '/api/deliveries',
  about:
    'Lists webhook calls of the caller’s organisation, newest first: those that wait and what became of the others.',
  permission: 'hooks:read',
  query: z.object({ hook_id: word, ...narrowing }),
  returns: listed,
  handle: ({ actor: { orgId }, query: { hook_id: hook, api_id: apiId, event, state, p } }, tools: DeliveryTools) =>
    page(tools, { orgId, hook, apiId, event, state }, p),
});

export const listHookDeliveries = operation({
  ...declared,
  name: 'listHookDeliveries',
  method: 'GET',
  path: '/api/hooks/{hookId}/deliveries',
  about: 'Lists the calls of one webhook, newest first.',
  permission: 'hooks:read',
  params: hookParams,
  query: z.object(narrowing),
  returns: listed,
  problems: [hookProblem.not_found],
  async handle({ actor: { orgId }, params: { hookId: hook }, query }, tools: DeliveryTools) {
    await checkHook(tools, orgId, hook);
    const { api_id: apiId, event, state, p } = query;
    return page(tools, { orgId, hook, apiId, event, state }, p);
  },
});

export const listDeadLetters = operation({
  ...declared,
  name: 'listDeadLetters',
  method: 'GET',
  path: '/api/dead-letters',
  about: 'Lists the webhook calls that were given up, newest first.',
  permission: 'hooks:read',
  query: z.object({ hook_id: word, event: narrowing.event, api_id: word, p: pageNumber }),
  returns: listed,
  handle: ({ actor: { orgId }, query: { hook_id: hook, api_id: apiId, event, p } }, tools: DeliveryTools) =>
    page(tools, { orgId, hook, apiId, event, state: 'dead' }, p),
});

export const getDelivery = operation({
  ...declared,
  name: 'getDelivery',
  method: 'GET',
  path: '/api/deliveries/{deliveryId}',
  about: 'Reads one webhook call: what is sent, and every attempt with its answer.',
  permission: 'hooks:read',
  params,
  returns: DeliveryShown,
  problems: [problem.not_found],
  handle: async ({ actor, params: { deliveryId } }, tools: DeliveryTools) =>
    deliveryShown(await read(tools, actor.orgId, deliveryId)),
});

export const retryDelivery = operation({
  ...declared,
  name: 'retryDelivery',
  method: 'POST',
  path: '/api/deliveries/{deliveryId}/retry',
  about: 'Has a webhook call that was given up tried again, before later ones of the same webhook.',
  permission: 'hooks:write',
  params,
  returns: statusAnswer,
  problems: [problem.not_found, problem.not_dead],
  handle({ actor, params: { deliveryId }, audit }, tools: DeliveryTools) {
    audit(deliveryId);
    return retry(tools, actor.orgId, deliveryId);
  },
});

export const retryHook = operation({
  ...declared,
  name: 'retryHook',
  method: 'POST',
  path: '/api/hooks/{hookId}/retry',
  about: 'Has every call of a webhook that was given up tried again, in their order; Meta says how many they are.',
  permission: 'hooks:write',
  params: hookParams,
  returns: statusAnswer,
  problems: [hookProblem.not_found],
  async handle({ actor: { orgId }, params: { hookId }, audit }, tools: DeliveryTools) {
    audit(hookId);
    await checkHook(tools, orgId, hookId);
    const retried = await tools.deliveries.retry(orgId, { hook: hookId }, tools.clock.now());
    tools.wakeSender();
    return done('Deliveries will be tried again', { retried });
  },
});

const operators = { surface: 'admin', noun: 'webhooks', permission: 'secret' } as const;

export const listOperatorDeliveries = operation({
  ...operators,
  name: 'listOperatorDeliveries',
  method: 'GET',
  path: '/admin/deliveries',
  about: 'Lists calls of the webhooks that the settings name, newest first.',
  query: z.object(narrowing),
  returns: listed,
  handle: ({ query: { api_id: apiId, event, state, p } }, tools: DeliveryTools) =>
    page(tools, { orgId: '', apiId, event, state }, p),
});

export const getOperatorDelivery = operation({
  ...operators,
  name: 'getOperatorDelivery',
  method: 'GET',
  path: '/admin/deliveries/{deliveryId}',
  about: 'Reads one call of a webhook that the settings name.',
  params,
  returns: DeliveryShown,
  problems: [problem.not_found],
  handle: async ({ params: { deliveryId } }, tools: DeliveryTools) => deliveryShown(await read(tools, '', deliveryId)),
});

export const retryOperatorDelivery = operation({
  ...operators,
  name: 'retryOperatorDelivery',
  method: 'POST',
  path: '/admin/deliveries/{deliveryId}/retry',
  about: 'Has a call of a webhook that the settings name tried again, after it was given up.',
  params,
  returns: statusAnswer,
  problems: [problem.not_found, problem.not_dead],
  handle({ params: { deliveryId }, audit }, tools: DeliveryTools) {
    audit(deliveryId);
    return retry(tools, '', deliveryId);
  },
});

export const deliveryOperations = [
  listDeliveries,
  listHookDeliveries,
  listDeadLetters,
  getDelivery,
  retryDelivery,
  retryHook,
  listOperatorDeliveries,
  getOperatorDelivery,
  retryOperatorDelivery,
];
