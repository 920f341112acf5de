import { z } from 'zod';
import { hasPermission } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { type EventName, eventNames } from '../payload.ts';
import { type ProbeLimit, type ProbeServices, probeHook, renderSampleBody } from './probe.ts';
import { problem } from './problems.ts';
import { hookTemplate } from './schema.ts';
import type { HookStore } from './store.ts';

interface HookProbeServices extends ProbeServices {
  readonly hooks: HookStore;
  readonly hookProbes: ProbeLimit;
}

/** Part of the response body that is returned. */
const maxExcerptBytes = 2048;

const hookTest = z.object({
  delivered: z.boolean().describe('The receiver answered with a 2xx status'),
  status: z.int().describe('Status of the response; 0 without one'),
  duration_ms: z.int(),
  error: z.string(),
  request: z.object({ method: z.string(), url: z.string(), content_type: z.string(), body: z.string() }),
  response_body: z.string().describe('First 2,048 bytes of the response; empty for callers without apis:write'),
});

/** Streaming decoder: a character cut in two at the end is left out. */
const toExcerpt = (body: Buffer) => new TextDecoder().decode(body.subarray(0, maxExcerptBytes), { stream: true });

const sampleEvent = z
  .enum(eventNames as [EventName, ...EventName[]])
  .default('AuthFailure')
  .describe('Event, with sample data');

export const testHook = operation({
  surface: 'dashboard',
  noun: 'webhooks',
  name: 'testHook',
  method: 'POST',
  path: '/api/hooks/{hookId}/test',
  about:
    'Sends a test event to a webhook at once and returns the result. It is signed, restricted and timed like a delivery, has the header X-Gw-Test: true, and is neither queued nor retried.',
  permission: 'hooks:write',
  params: z.object({ hookId: z.string() }),
  query: z.object({ event: sampleEvent }),
  returns: hookTest,
  problems: [problem.not_found, problem.too_many_tests],
  async handle({ actor, params: { hookId }, query: { event }, audit }, services: HookProbeServices) {
    audit(hookId);
    const hook = await services.hooks.get(actor.orgId, hookId);
    if (!hook) throw problem.not_found();
    const result = await services.hookProbes.run(actor.orgId, () => probeHook(services, hook, event));
    // Responses of private networks are shown to callers who can reach them through an API anyway.
    const response_body = hasPermission(actor, 'apis:write') ? toExcerpt(result.responseBody) : '';
    return {
      delivered: result.error === '',
      status: result.status,
      duration_ms: result.durationMs,
      error: result.error,
      request: {
        method: hook.method,
        url: hook.target_path,
        content_type: result.requestBody === '' ? '' : result.contentType,
        body: result.requestBody,
      },
      response_body,
    };
  },
});

export const previewHookBody = operation({
  surface: 'dashboard',
  noun: 'webhooks',
  name: 'previewHookBody',
  changesNothing: true,
  method: 'POST',
  path: '/api/hooks/preview',
  about: 'Renders a body template for an event with sample data. Nothing is stored or sent.',
  permission: 'hooks:write',
  body: z.object({ template_path: hookTemplate, event: sampleEvent }),
  example: { template_path: '{"text": "{{.Meta.Message}}"}', event: 'AuthFailure' },
  returns: z.object({ body: z.string(), content_type: z.string(), error: z.string() }),
  async handle(
    { actor, body: { template_path, event } },
    services: Pick<ProbeServices, 'renderWebhookBody' | 'clock'>,
  ) {
    const { payload, contentType, fault } = renderSampleBody(services, { org_id: actor.orgId, template_path }, event);
    return { body: payload, content_type: contentType, error: fault };
  },
});

export const hookProbeOperations = [testHook, previewHookBody];
