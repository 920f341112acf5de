import { z } from 'zod';
import type { Settings } from '#base/settings.ts';
import { type DeliveryServices, retryDeadLetter } from '#events/deliveries/operations.ts';
import { problem as deliveryProblem } from '#events/deliveries/problems.ts';
import { type Delivery, deliveryStates, toDeliveryDetail } from '#events/deliveries/schema.ts';
import type { WebhookCallServices } from '#events/deliveries/send-webhook.ts';
import { type ProbeLimit, sendProbe } from '#events/hooks/probe.ts';
import { problem as hookProblem } from '#events/hooks/problems.ts';
import { operation } from '#operations/operation.ts';
import { noResponse } from '../no-response.ts';
import { type Missing, present, problem } from '../problems.ts';
import {
  applyLimit,
  formatOptionalTime,
  numberedId,
  okMessage,
  okMessageResponse,
  portalPageQuery,
  toPortalPageRequest,
} from '../shapes.ts';
import { buildEventPayload, toHeaderMap } from './notify.ts';
import { createSampleMessage } from './sample-message.ts';
import { portalEvents } from './schema.ts';
import { operatorOrgId, type PortalWebhookStore, toDeliveryHook } from './store.ts';

interface PortalDeliveryServices extends Pick<DeliveryServices, 'deliveries' | 'clock' | 'wakeSender'> {
  readonly portalWebhooks: PortalWebhookStore;
}

interface PortalProbeServices extends WebhookCallServices {
  readonly portalWebhooks: PortalWebhookStore;
  readonly hookProbes: ProbeLimit;
  readonly settings: Settings;
}

const declared = { surface: 'portal', noun: 'webhooks', permission: 'secret' } as const;
const params = z.object({ webhook_id: numberedId });
const deliveryParams = params.extend({ delivery_id: z.string() });

const PortalDeliveryRow = z.object({
  ID: z.string().describe('Sent with every attempt as X-Gw-Delivery'),
  Event: z.string(),
  State: z.enum(deliveryStates),
  Attempts: z.int(),
  Status: z.int().describe('Status of the last response; 0 without one'),
  Error: z.string().describe('Why the last attempt failed; empty for a success'),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});
const PortalDelivery = PortalDeliveryRow.extend({
  Target: z.string().describe('Method and URL'),
  ContentType: z.string(),
  Body: z.string(),
  Log: z.array(z.object({ At: z.string(), DurationMs: z.int(), Status: z.int(), Error: z.string() })),
});

const toDeliveryRow = (it: Delivery): z.output<typeof PortalDeliveryRow> => ({
  ID: it.publicId,
  Event: it.event,
  State: it.state,
  Attempts: it.attempts,
  Status: it.status,
  Error: toDeliveryDetail(it).error,
  CreatedAt: formatOptionalTime(it.createdAtMs),
  UpdatedAt: formatOptionalTime(it.updatedAtMs),
});

function toDeliveryView(it: Delivery): z.output<typeof PortalDelivery> {
  const { target, content_type, body, log } = toDeliveryDetail(it);
  const attempts = log.map(({ at, duration_ms, status, error }) => ({
    ...{ At: at, DurationMs: duration_ms, Status: status, Error: error },
  }));
  return { ...toDeliveryRow(it), Target: target, ContentType: content_type, Body: body, Log: attempts };
}

/** A delivery of a webhook; those of other webhooks, also of the operator, are not found. */
async function requireDelivery(
  { webhook_id, delivery_id }: z.output<typeof deliveryParams>,
  { portalWebhooks, deliveries }: PortalDeliveryServices,
  missing: Missing = 'not_found',
): Promise<Delivery> {
  const hook = present(await portalWebhooks.get(webhook_id), 'Webhook', missing);
  const found = await deliveries.get(operatorOrgId, delivery_id);
  return present(found?.hook === toDeliveryHook(hook) ? found : undefined, 'Delivery', missing);
}

export const listWebhookDeliveries = operation({
  ...declared,
  name: 'listWebhookDeliveries',
  method: 'GET',
  path: '/portal-api/webhooks/{webhook_id}/deliveries',
  about: 'Lists the deliveries of a webhook, newest first: those that wait, and the results of the others.',
  params,
  query: portalPageQuery.extend({ state: z.enum(deliveryStates).optional() }),
  returns: z.array(PortalDeliveryRow),
  problems: [problem.not_found],
  async handle({ params: { webhook_id }, query }, { portalWebhooks, deliveries }: PortalDeliveryServices) {
    const hook = present(await portalWebhooks.get(webhook_id), 'Webhook');
    const filter = { orgId: operatorOrgId, hook: toDeliveryHook(hook), state: query.state };
    const { items } = await deliveries.page(filter, toPortalPageRequest(query));
    return applyLimit(items, query).map(toDeliveryRow);
  },
});

export const getWebhookDelivery = operation({
  ...declared,
  name: 'getWebhookDelivery',
  method: 'GET',
  path: '/portal-api/webhooks/{webhook_id}/deliveries/{delivery_id}',
  about: 'Returns a delivery of a webhook with its body and every attempt.',
  params: deliveryParams,
  returns: PortalDelivery,
  problems: [problem.not_found],
  handle: async ({ params: given }, services: PortalDeliveryServices) =>
    toDeliveryView(await requireDelivery(given, services)),
});

export const retryWebhookDelivery = operation({
  ...declared,
  name: 'retryWebhookDelivery',
  method: 'PUT',
  path: '/portal-api/webhooks/{webhook_id}/deliveries/{delivery_id}/retry',
  about: 'Retries a dead letter of a webhook, with the URL and headers of its event.',
  params: deliveryParams,
  returns: okMessageResponse,
  problems: [problem.unknown, deliveryProblem.not_dead],
  async handle({ params: given, audit }, services: PortalDeliveryServices) {
    audit(given.delivery_id);
    await retryDeadLetter(services, await requireDelivery(given, services, 'unknown'));
    return okMessage('Retry');
  },
});

export const testWebhook = operation({
  ...declared,
  name: 'testWebhook',
  method: 'PUT',
  path: '/portal-api/webhooks/{webhook_id}/test',
  about:
    'Sends an event with sample data to a webhook at once, with its method, headers and signature and the header X-Gw-Test: true. It is neither queued nor retried.',
  params,
  query: z.object({ event: z.enum(portalEvents).default('UserRegistered').describe('Event, with sample data') }),
  returns: z.object({
    Delivered: z.boolean().describe('The receiver responded with a 2xx status'),
    Status: z.int().describe('Status of the response; 0 without one'),
    DurationMs: z.int().describe('0 without a response'),
    Error: z.string(),
    Body: z.string().describe('Body of the request; empty for methods without one'),
  }),
  problems: [problem.unknown, hookProblem.too_many_tests],
  async handle({ params: { webhook_id }, query: { event }, audit }, services: PortalProbeServices) {
    audit(String(webhook_id));
    const hook = present(await services.portalWebhooks.get(webhook_id), 'Webhook', 'unknown');
    const nowMs = services.clock.now();
    const call = {
      target: { method: hook.Method, url: hook.URL, headers: toHeaderMap(hook), secret: toDeliveryHook(hook) },
      orgId: operatorOrgId,
      event,
      payload: buildEventPayload(event, createSampleMessage(event, nowMs), nowMs),
      contentType: 'application/json',
      ...(hook.Timeout > 0 && { timeoutMs: hook.Timeout * 1000 }),
    };
    // The response body is not returned: administrators of the portal need not see private networks.
    const result = await services.hookProbes.run(operatorOrgId, () => sendProbe(services, call));
    const isAnswered = result.status > 0;
    return {
      Delivered: result.error === '',
      Status: result.status,
      DurationMs: isAnswered ? result.durationMs : 0,
      Error: isAnswered ? result.error : noResponse,
      Body: result.requestBody,
    };
  },
});

export const webhookDeliveryOperations = [listWebhookDeliveries, getWebhookDelivery, retryWebhookDelivery, testWebhook];
