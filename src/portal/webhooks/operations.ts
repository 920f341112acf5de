import { z } from 'zod';
import type { AddressPolicies } from '#base/address-policies.ts';
import { refuseWrittenAddress } from '#base/address-policy.ts';
import type { Clock } from '#base/clock.ts';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { present, problem } from '../problems.ts';
import { formatOptionalTime, numberedId, okResponse, okStatus, portalPageQuery } from '../shapes.ts';
import { toEventBody } from './notify.ts';
import { createSampleMessage } from './sample-message.ts';
import {
  defaultTimeoutSeconds,
  NewWebhookView,
  portalEvents,
  toWebhookView,
  WebhookChange,
  WebhookSecretView,
  WebhookView,
  WebhookWrite,
} from './schema.ts';
import type { PortalWebhookStore } from './store.ts';

export interface WebhookServices {
  portalWebhooks: PortalWebhookStore;
  clock: Clock;
  addressPolicies: AddressPolicies;
}

function ensureUrlAllowed({ operator }: AddressPolicies, url: string): void {
  const refused = refuseWrittenAddress(operator, url);
  if (refused) throw createInvalidProblem([{ path: 'URL', message: refused.message }]);
}

const params = z.object({ webhook_id: numberedId });
const declared = { surface: 'portal', noun: 'webhooks', permission: 'secret' } as const;

export const listWebhooks = operation({
  ...declared,
  name: 'listWebhooks',
  method: 'GET',
  path: '/portal-api/webhooks',
  about: 'Lists the webhooks of the portal, newest first.',
  query: portalPageQuery,
  returns: z.array(WebhookView),
  async handle({ query }, { portalWebhooks }: WebhookServices) {
    return (await portalWebhooks.page(query)).map(toWebhookView);
  },
});

export const createWebhook = operation({
  ...declared,
  name: 'createWebhook',
  method: 'POST',
  path: '/portal-api/webhooks',
  about: 'Creates a webhook for events of the portal. Its secret, which signs deliveries, is returned this once.',
  body: WebhookWrite,
  returns: NewWebhookView,
  status: 201,
  async handle({ body, audit }, { portalWebhooks, clock, addressPolicies }: WebhookServices) {
    ensureUrlAllowed(addressPolicies, body.URL);
    const now = clock.now();
    const { stored, secret } = await portalWebhooks.insert({
      Name: body.Name,
      URL: body.URL,
      Method: body.Method,
      Timeout: body.Timeout ?? defaultTimeoutSeconds,
      Events: body.Events ?? [],
      Headers: [],
      HeaderCount: 0,
      CreatedAt: now,
      UpdatedAt: now,
    });
    audit(String(stored.ID));
    return { ...toWebhookView(stored), Secret: secret };
  },
});

export const getWebhook = operation({
  ...declared,
  name: 'getWebhook',
  method: 'GET',
  path: '/portal-api/webhooks/{webhook_id}',
  about: 'Returns a webhook with its headers.',
  params,
  returns: WebhookView,
  problems: [problem.not_found],
  async handle({ params: { webhook_id } }, { portalWebhooks }: WebhookServices) {
    return toWebhookView(present(await portalWebhooks.get(webhook_id), 'Webhook'));
  },
});

export const updateWebhook = operation({
  ...declared,
  name: 'updateWebhook',
  method: 'PUT',
  path: '/portal-api/webhooks/{webhook_id}',
  about: 'Updates a webhook; omitted members do not change. Its headers have operations of their own.',
  params,
  body: WebhookChange,
  returns: WebhookView,
  problems: [problem.unknown],
  async handle({ params: { webhook_id }, body, audit }, { portalWebhooks, clock, addressPolicies }: WebhookServices) {
    audit(String(webhook_id));
    ensureUrlAllowed(addressPolicies, body.URL ?? '');
    const changed = await portalWebhooks.change(webhook_id, it => ({
      ...it,
      Name: body.Name ?? it.Name,
      URL: body.URL ?? it.URL,
      Method: body.Method ?? it.Method,
      Timeout: body.Timeout ?? it.Timeout,
      Events: body.Events ?? it.Events,
      UpdatedAt: clock.now(),
    }));
    return toWebhookView(present(changed, 'Webhook', 'unknown'));
  },
});

export const deleteWebhook = operation({
  ...declared,
  name: 'deleteWebhook',
  method: 'DELETE',
  path: '/portal-api/webhooks/{webhook_id}',
  about: 'Deletes a webhook with its headers, its secret and the deliveries that wait.',
  params,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params: { webhook_id }, audit }, { portalWebhooks }: WebhookServices) {
    audit(String(webhook_id));
    if (!(await portalWebhooks.remove(webhook_id))) throw problem.not_found({ detail: { what: 'Webhook' } });
    return okStatus;
  },
});

export const rotateWebhookSecret = operation({
  ...declared,
  name: 'rotateWebhookSecret',
  method: 'PUT',
  path: '/portal-api/webhooks/{webhook_id}/rotate-secret',
  about:
    'Gives a webhook a new secret, which is returned this once. For a day deliveries are signed with the former one as well: that of the webhook, or of the operator where it had none of its own.',
  params,
  returns: WebhookSecretView,
  problems: [problem.unknown],
  async handle({ params: { webhook_id }, audit }, { portalWebhooks, clock }: WebhookServices) {
    audit(String(webhook_id));
    const { secret, OldSecretValidUntil } = present(
      await portalWebhooks.rotateSecret(webhook_id, clock.now()),
      'Webhook',
      'unknown',
    );
    return { Secret: secret, OldSecretValidUntil: formatOptionalTime(OldSecretValidUntil) };
  },
});

export const listWebhookEvents = operation({
  ...declared,
  name: 'listWebhookEvents',
  method: 'GET',
  path: '/portal-api/webhook-events',
  about: 'Lists the events of the portal, each with the body of a delivery about objects that do not exist.',
  returns: z.array(z.object({ Event: z.enum(portalEvents), Sample: z.record(z.string(), z.unknown()) })),
  async handle(_call, { clock }: WebhookServices) {
    const nowMs = clock.now();
    return portalEvents.map(Event => ({
      Event,
      Sample: toEventBody(Event, createSampleMessage(Event, nowMs), nowMs),
    }));
  },
});

export const webhookOperations = [
  listWebhooks,
  createWebhook,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  listWebhookEvents,
];
