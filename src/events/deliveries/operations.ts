import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { pageNumber, statusResponse, toPageRequest, toStatus, unixSeconds } from '#operations/shapes.ts';
import { problem as hookProblem } from '../hooks/problems.ts';
import type { HookStore } from '../hooks/store.ts';
import { problem } from './problems.ts';
import {
  type Delivery,
  DeliveryDetail,
  type DeliveryState,
  DeliverySummary,
  deliveryStates,
  inlinePrefix,
  toDeliveryDetail,
  toDeliverySummary,
} from './schema.ts';
import type { DeliveryStore } from './store.ts';

export interface DeliveryServices {
  deliveries: DeliveryStore;
  hooks: HookStore;
  settings: Settings;
  clock: Clock;
  ownership: {
    /** Public ids of the APIs that are hidden from a user. */
    findHidden(actor: Actor): Promise<{ readonly apiIds: readonly string[]; has(apiId: string): boolean }>;
  };
  /** Wakes the sender. */
  wakeSender(): void;
}

const word = z.string().max(100).optional();
const deadLetterFilters = {
  event: word.describe('Name of the event'),
  api_id: word,
  start: unixSeconds.optional().describe('First second of creation; Unix time'),
  end: unixSeconds.optional().describe('Last second of creation; Unix time'),
  p: pageNumber,
};
const filters = { ...deadLetterFilters, state: z.enum(deliveryStates).optional() };
const deadLetterQuery = z.object({ hook_id: word, ...deadLetterFilters });
type DeliveryQuery = z.output<typeof deadLetterQuery> & { readonly state?: DeliveryState | undefined };
const params = z.object({ deliveryId: z.string() });
export const hookParams = z.object({ hookId: z.string().describe('Id of a webhook, or one with the prefix inline-') });
const deliveryPage = z.object({ deliveries: z.array(DeliverySummary), pages: z.int() });
const declared = { surface: 'dashboard', noun: 'webhooks' } as const;

/** Deliveries of the caller's organisation, without those of hidden APIs: their bodies hold requests and keys. */
async function listVisible(services: DeliveryServices, actor: Actor, query: DeliveryQuery) {
  const { apiIds } = await services.ownership.findHidden(actor);
  return listPage(services, actor.orgId, query, apiIds);
}

async function findVisible(services: DeliveryServices, actor: Actor, id: string) {
  const found = await findDelivery(services, actor.orgId, id);
  if ((await services.ownership.findHidden(actor)).has(found.apiId)) throw problem.not_found();
  return found;
}

async function listPage(
  { deliveries, settings }: Pick<DeliveryServices, 'deliveries' | 'settings'>,
  orgId: string,
  query: DeliveryQuery,
  hiddenApis: readonly string[] = [],
) {
  const { hook_id: hook, api_id: apiId, event, state, start, end } = query;
  const filter = {
    ...{ orgId, hook, apiId, event, state, hiddenApis },
    fromMs: start === undefined ? undefined : start * 1000,
    toMs: end === undefined ? undefined : end * 1000 + 999,
  };
  const found = await deliveries.page(filter, toPageRequest(query.p, settings['management.page_size']));
  return { deliveries: found.items.map(toDeliverySummary), pages: found.pages };
}

async function findDelivery({ deliveries }: DeliveryServices, orgId: string, id: string) {
  const found = await deliveries.get(orgId, id);
  if (!found) throw problem.not_found();
  return found;
}

/** Requeues a dead letter; any other delivery is refused. */
export async function retryDeadLetter(
  { deliveries, clock, wakeSender }: Pick<DeliveryServices, 'deliveries' | 'clock' | 'wakeSender'>,
  { orgId, publicId: id, state }: Pick<Delivery, 'orgId' | 'publicId' | 'state'>,
): Promise<void> {
  if (state !== 'dead' || (await deliveries.retry(orgId, { id }, clock.now())) === 0)
    throw problem.not_dead({ detail: { state } });
  wakeSender();
}

async function retryOne(services: DeliveryServices, orgId: string, id: string) {
  await retryDeadLetter(services, await findDelivery(services, orgId, id));
  return toStatus('Delivery will be tried again');
}

/** A deleted hook may have left deliveries; one that never existed is not found. */
export async function requireHook(
  { hooks, deliveries }: Pick<DeliveryServices, 'hooks' | 'deliveries'>,
  orgId: string,
  hook: string,
): Promise<void> {
  if (hook.startsWith(inlinePrefix) || (await hooks.get(orgId, hook))) return;
  const { total } = await deliveries.page({ orgId, hook }, toPageRequest(1, 1));
  if (total === 0) throw hookProblem.not_found();
}

export const listDeliveries = operation({
  ...declared,
  name: 'listDeliveries',
  method: 'GET',
  path: '/api/deliveries',
  about:
    'Lists webhook deliveries of the caller’s organisation, newest first: those in the queue, and the results of the others.',
  permission: 'hooks:read',
  query: z.object({ hook_id: word, ...filters }),
  returns: deliveryPage,
  handle: ({ actor, query }, services: DeliveryServices) => listVisible(services, actor, query),
});

export const listHookDeliveries = operation({
  ...declared,
  name: 'listHookDeliveries',
  method: 'GET',
  path: '/api/hooks/{hookId}/deliveries',
  about: 'Lists the deliveries of one webhook, newest first.',
  permission: 'hooks:read',
  params: hookParams,
  query: z.object(filters),
  returns: deliveryPage,
  problems: [hookProblem.not_found],
  async handle({ actor, params: { hookId: hook }, query }, services: DeliveryServices) {
    await requireHook(services, actor.orgId, hook);
    return listVisible(services, actor, { ...query, hook_id: hook });
  },
});

export const listDeadLetters = operation({
  ...declared,
  name: 'listDeadLetters',
  method: 'GET',
  path: '/api/dead-letters',
  about: 'Lists the dead letters, newest first: webhook deliveries after their last attempt.',
  permission: 'hooks:read',
  query: deadLetterQuery,
  returns: deliveryPage,
  handle: ({ actor, query }, services: DeliveryServices) => listVisible(services, actor, { ...query, state: 'dead' }),
});

export const getDelivery = operation({
  ...declared,
  name: 'getDelivery',
  method: 'GET',
  path: '/api/deliveries/{deliveryId}',
  about: 'Returns a webhook delivery with its body, and every attempt with its response.',
  permission: 'hooks:read',
  params,
  returns: DeliveryDetail,
  problems: [problem.not_found],
  handle: async ({ actor, params: { deliveryId } }, services: DeliveryServices) =>
    toDeliveryDetail(await findVisible(services, actor, deliveryId)),
});

export const retryDelivery = operation({
  ...declared,
  name: 'retryDelivery',
  method: 'POST',
  path: '/api/deliveries/{deliveryId}/retry',
  about: 'Retries a dead letter, before later deliveries of the same webhook.',
  permission: 'hooks:write',
  params,
  returns: statusResponse,
  problems: [problem.not_found, problem.not_dead],
  async handle({ actor, params: { deliveryId }, audit }, services: DeliveryServices) {
    audit(deliveryId);
    await findVisible(services, actor, deliveryId);
    return retryOne(services, actor.orgId, deliveryId);
  },
});

export const retryHook = operation({
  ...declared,
  name: 'retryHook',
  method: 'POST',
  path: '/api/hooks/{hookId}/retry',
  about: 'Retries all dead letters of a webhook, in order; Meta contains their number.',
  permission: 'hooks:write',
  params: hookParams,
  returns: statusResponse,
  problems: [hookProblem.not_found],
  async handle({ actor: { orgId }, params: { hookId }, audit }, services: DeliveryServices) {
    audit(hookId);
    await requireHook(services, orgId, hookId);
    const retried = await services.deliveries.retry(orgId, { hook: hookId }, services.clock.now());
    services.wakeSender();
    return toStatus('Deliveries will be tried again', { retried });
  },
});

const operatorSurface = { surface: 'admin', noun: 'webhooks', permission: 'secret' } as const;

export const listOperatorDeliveries = operation({
  ...operatorSurface,
  name: 'listOperatorDeliveries',
  method: 'GET',
  path: '/admin/deliveries',
  about: 'Lists deliveries of the webhooks in the settings, newest first.',
  query: z.object(filters),
  returns: deliveryPage,
  handle: ({ query }, services: DeliveryServices) => listPage(services, '', query),
});

export const getOperatorDelivery = operation({
  ...operatorSurface,
  name: 'getOperatorDelivery',
  method: 'GET',
  path: '/admin/deliveries/{deliveryId}',
  about: 'Returns a delivery of a webhook in the settings.',
  params,
  returns: DeliveryDetail,
  problems: [problem.not_found],
  handle: async ({ params: { deliveryId } }, services: DeliveryServices) =>
    toDeliveryDetail(await findDelivery(services, '', deliveryId)),
});

export const retryOperatorDelivery = operation({
  ...operatorSurface,
  name: 'retryOperatorDelivery',
  method: 'POST',
  path: '/admin/deliveries/{deliveryId}/retry',
  about: 'Retries a dead letter of a webhook in the settings.',
  params,
  returns: statusResponse,
  problems: [problem.not_found, problem.not_dead],
  handle({ params: { deliveryId }, audit }, services: DeliveryServices) {
    audit(deliveryId);
    return retryOne(services, '', deliveryId);
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
