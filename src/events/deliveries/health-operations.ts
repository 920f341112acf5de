import { z } from 'zod';
import { formatIsoTime } from '#base/clock.ts';
import { operation } from '#operations/operation.ts';
import { pageNumber, toPageRequest } from '#operations/shapes.ts';
import { problem as hookProblem } from '../hooks/problems.ts';
import { type HealthStore, type QueueHealth, unusedQueue } from './health-store.ts';
import { type DeliveryServices, hookParams, requireHook } from './operations.ts';

interface HealthServices extends DeliveryServices {
  readonly deliveryHealth: HealthStore;
}

/** Period of the recent counts. */
const recentMs = 86_400_000;

const healthStates = ['unused', 'ok', 'retrying', 'failing'] as const;

const optionalTime = z.string().nullable();

const hookHealth = z.object({
  hook_id: z.string(),
  state: z
    .enum(healthStates)
    .describe('retrying: a delivery is tried again; failing: the last delivery is a dead letter'),
  pending: z.int().describe('Deliveries in the queue'),
  delivered: z.int().describe('Delivered, as far as stored'),
  failed: z.int().describe('Dead letters'),
  delivered_24h: z.int(),
  failed_24h: z.int(),
  last_success_at: optionalTime,
  last_error: z.object({ at: z.string(), status: z.int(), message: z.string() }).nullable(),
  next_attempt_at: optionalTime,
});

function toState({ waiting, delivered, dead, lastFailure }: QueueHealth): (typeof healthStates)[number] {
  if (waiting.count > 0 && lastFailure && lastFailure.atMs >= delivered.lastChangedAtMs) return 'retrying';
  if (dead.count > 0 && dead.lastChangedAtMs >= delivered.lastChangedAtMs) return 'failing';
  return delivered.count + waiting.count > 0 ? 'ok' : 'unused';
}

const toTime = (ms: number | undefined) => (ms ? formatIsoTime(ms) : null);

function toHookHealth(hookId: string, health: QueueHealth): z.output<typeof hookHealth> {
  const { waiting, delivered, dead, lastFailure: last } = health;
  return {
    hook_id: hookId,
    state: toState(health),
    pending: waiting.count,
    delivered: delivered.count,
    failed: dead.count,
    delivered_24h: delivered.recent,
    failed_24h: dead.recent,
    last_success_at: toTime(delivered.lastChangedAtMs),
    last_error: last ? { at: formatIsoTime(last.atMs), status: last.status, message: last.error } : null,
    next_attempt_at: toTime(health.nextAttemptAtMs),
  };
}

export const getHookHealth = operation({
  surface: 'dashboard',
  noun: 'webhooks',
  name: 'getHookHealth',
  method: 'GET',
  path: '/api/hooks/{hookId}/health',
  about:
    'Returns the state of the delivery queue of a webhook: pending and failed deliveries, last success, last error, next attempt.',
  permission: 'hooks:read',
  params: hookParams,
  returns: hookHealth,
  problems: [hookProblem.not_found],
  async handle({ actor: { orgId }, params: { hookId } }, services: HealthServices) {
    await requireHook(services, orgId, hookId);
    const health = await services.deliveryHealth.read(orgId, hookId, services.clock.now() - recentMs);
    return toHookHealth(hookId, health);
  },
});

export const listHookHealth = operation({
  surface: 'dashboard',
  noun: 'webhooks',
  name: 'listHookHealth',
  method: 'GET',
  path: '/api/hooks/health',
  about: 'Returns the state of the delivery queues of the webhooks of a page of the list, in its order.',
  permission: 'hooks:read',
  query: z.object({ p: pageNumber }),
  returns: z.object({ hooks: z.array(hookHealth), pages: z.int() }),
  async handle({ actor: { orgId }, query: { p } }, services: HealthServices) {
    const page = await services.hooks.page(orgId, toPageRequest(p, services.settings['management.page_size']));
    const ids = page.items.map(({ id }) => id);
    const found = await services.deliveryHealth.readMany(orgId, ids, services.clock.now() - recentMs);
    return { hooks: ids.map(id => toHookHealth(id, found.get(id) ?? unusedQueue)), pages: page.pages };
  },
});

export const deliveryHealthOperations = [listHookHealth, getHookHealth];
