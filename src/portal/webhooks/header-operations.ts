import { z } from 'zod';
import { maxWebhookHeaders } from '#events/webhook-shapes.ts';
import { operation } from '#operations/operation.ts';
import { problem as portalProblem, present } from '../problems.ts';
import { numberedId, okResponse, okStatus, paginate, portalPageQuery } from '../shapes.ts';
import type { WebhookServices } from './operations.ts';
import { problem } from './problems.ts';
import {
  toHeaderRow,
  toHeaderView,
  type Webhook,
  type WebhookHeader,
  WebhookHeaderChange,
  WebhookHeaderRow,
  WebhookHeaderView,
  WebhookHeaderWrite,
} from './schema.ts';

const params = z.object({ webhook_id: numberedId });
const headerParams = params.extend({ header_id: numberedId });
const declared = { surface: 'portal', noun: 'webhooks', permission: 'secret' } as const;

const requireHeader = ({ Headers }: Webhook, id: number): WebhookHeader =>
  present(
    Headers.find(({ ID }) => ID === id),
    'Header',
  );

/** Header names are unique, case-insensitively. */
function refuseDuplicate(others: readonly WebhookHeader[], name: string): void {
  if (others.some(({ Name }) => Name.toLowerCase() === name.toLowerCase())) throw problem.header_taken();
}

export const listWebhookHeaders = operation({
  ...declared,
  name: 'listWebhookHeaders',
  method: 'GET',
  path: '/portal-api/webhooks/{webhook_id}/headers',
  about: 'Lists the headers of a webhook.',
  params,
  query: portalPageQuery,
  returns: z.array(WebhookHeaderRow),
  problems: [portalProblem.not_found],
  async handle({ params: { webhook_id }, query }, { portalWebhooks }: WebhookServices) {
    const { Headers } = present(await portalWebhooks.get(webhook_id), 'Webhook');
    return paginate(Headers, query).map(toHeaderRow);
  },
});

export const createWebhookHeader = operation({
  ...declared,
  name: 'createWebhookHeader',
  method: 'POST',
  path: '/portal-api/webhooks/{webhook_id}/headers',
  about: 'Adds a header to a webhook.',
  params,
  body: WebhookHeaderWrite,
  returns: WebhookHeaderView,
  status: 201,
  problems: [portalProblem.unknown, problem.header_taken, problem.too_many_headers],
  async handle({ params: { webhook_id }, body, audit }, { portalWebhooks, clock }: WebhookServices) {
    audit(String(webhook_id));
    const changed = await portalWebhooks.change(webhook_id, hook => {
      refuseDuplicate(hook.Headers, body.Name);
      if (hook.Headers.length >= maxWebhookHeaders)
        throw problem.too_many_headers({ detail: { maxHeaders: maxWebhookHeaders } });
      const HeaderCount = hook.HeaderCount + 1;
      const Headers = [...hook.Headers, { ...body, ID: HeaderCount }];
      return { ...hook, Headers, HeaderCount, UpdatedAt: clock.now() };
    });
    const { Headers } = present(changed, 'Webhook', 'unknown');
    return toHeaderView(Headers.at(-1)!, webhook_id);
  },
});

export const getWebhookHeader = operation({
  ...declared,
  name: 'getWebhookHeader',
  method: 'GET',
  path: '/portal-api/webhooks/{webhook_id}/headers/{header_id}',
  about: 'Returns a header of a webhook.',
  params: headerParams,
  returns: WebhookHeaderView,
  problems: [portalProblem.not_found],
  async handle({ params: { webhook_id, header_id } }, { portalWebhooks }: WebhookServices) {
    const hook = present(await portalWebhooks.get(webhook_id), 'Webhook');
    return toHeaderView(requireHeader(hook, header_id), webhook_id);
  },
});

export const updateWebhookHeader = operation({
  ...declared,
  name: 'updateWebhookHeader',
  method: 'PUT',
  path: '/portal-api/webhooks/{webhook_id}/headers/{header_id}',
  about: 'Updates a header of a webhook; omitted members do not change.',
  params: headerParams,
  body: WebhookHeaderChange,
  returns: WebhookHeaderView,
  problems: [portalProblem.not_found, problem.header_taken],
  async handle({ params: { webhook_id, header_id }, body, audit }, { portalWebhooks, clock }: WebhookServices) {
    audit(String(webhook_id));
    const changed = await portalWebhooks.change(webhook_id, hook => {
      const { ID, Name, Value } = requireHeader(hook, header_id);
      const next = { ID, Name: body.Name ?? Name, Value: body.Value ?? Value };
      const others = hook.Headers.filter(header => header.ID !== ID);
      refuseDuplicate(others, next.Name);
      const Headers = hook.Headers.map(header => (header.ID === ID ? next : header));
      return { ...hook, Headers, UpdatedAt: clock.now() };
    });
    return toHeaderView(requireHeader(present(changed, 'Webhook'), header_id), webhook_id);
  },
});

export const deleteWebhookHeader = operation({
  ...declared,
  name: 'deleteWebhookHeader',
  method: 'DELETE',
  path: '/portal-api/webhooks/{webhook_id}/headers/{header_id}',
  about: 'Deletes a header of a webhook.',
  params: headerParams,
  returns: okResponse,
  problems: [portalProblem.not_found],
  async handle({ params: { webhook_id, header_id }, audit }, { portalWebhooks, clock }: WebhookServices) {
    audit(String(webhook_id));
    const changed = await portalWebhooks.change(webhook_id, hook => {
      const { ID } = requireHeader(hook, header_id);
      return { ...hook, Headers: hook.Headers.filter(header => header.ID !== ID), UpdatedAt: clock.now() };
    });
    present(changed, 'Webhook');
    return okStatus;
  },
});

export const webhookHeaderOperations = [
  listWebhookHeaders,
  createWebhookHeader,
  getWebhookHeader,
  updateWebhookHeader,
  deleteWebhookHeader,
];
