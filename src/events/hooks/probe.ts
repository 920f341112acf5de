import { type Clock, formatIsoTime } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import { Problem } from '#base/problems.ts';
import type { BodyRenderer } from '../body-template.ts';
import {
  sendWebhook,
  toRequestBody,
  toStatusError,
  type WebhookCall,
  type WebhookCallServices,
} from '../deliveries/send-webhook.ts';
import type { EventName } from '../payload.ts';
import { problem } from './problems.ts';
import type { Hook } from './schema.ts';

export interface ProbeServices extends WebhookCallServices {
  readonly renderWebhookBody: BodyRenderer;
}

export interface ProbeResult {
  readonly status: number;
  readonly durationMs: number;
  /** Empty for a success. */
  readonly error: string;
  readonly requestBody: string;
  readonly contentType: string;
  readonly responseBody: Buffer;
}

/** Tests in progress of one organisation: each holds a connection of the outbound client until its timeout. */
const maxProbes = 4;

export type ProbeLimit = ReturnType<typeof createProbeLimit>;

/** Concurrency limit of tests, by organisation. */
export function createProbeLimit() {
  const running = new Map<string, number>();
  return {
    async run<T>(orgId: string, probe: () => Promise<T>): Promise<T> {
      const count = running.get(orgId) ?? 0;
      if (count >= maxProbes) throw problem.too_many_tests({ detail: { maxProbes } });
      running.set(orgId, count + 1);
      try {
        return await probe();
      } finally {
        const left = (running.get(orgId) ?? 1) - 1;
        if (left > 0) running.set(orgId, left);
        else running.delete(orgId);
      }
    },
  };
}

const noBytes = Buffer.alloc(0);

/** Sends one event to a webhook at once, beside the queue: signed, and under the rules of deliveries. */
export async function probeHook(services: ProbeServices, hook: Hook, event: EventName): Promise<ProbeResult> {
  const { payload, contentType, fault } = renderSampleBody(services, hook, event);
  const target = { method: hook.method, url: hook.target_path, headers: hook.header_map, secret: hook.id };
  const call = { target, orgId: hook.org_id, event, payload, contentType };
  if (fault === '') return sendProbe(services, call);
  return { ...toProbeRequest(call), status: 0, durationMs: 0, error: fault, responseBody: noBytes };
}

const toProbeRequest = ({ target, payload, contentType }: Omit<WebhookCall, 'deliveryId'>) => ({
  requestBody: toRequestBody(target.method, payload),
  contentType,
});

/** Test of a webhook: one request outside of the queue, with X-Gw-Test; network errors and timeouts are results. */
export async function sendProbe(
  services: WebhookCallServices,
  call: Omit<WebhookCall, 'deliveryId' | 'extraHeaders'>,
): Promise<ProbeResult> {
  const { clock } = services;
  const startedAtMs = clock.now();
  const request = toProbeRequest(call);
  const sinceStart = () => ({ durationMs: clock.now() - startedAtMs });
  try {
    const sent = { ...call, deliveryId: createPublicId(), extraHeaders: { 'x-gw-test': 'true' } };
    const { status, body: responseBody } = await sendWebhook(services, sent);
    return { ...request, ...sinceStart(), status, error: toStatusError(status), responseBody };
  } catch (error) {
    // Refused addresses, timeouts and network errors are results of the test; anything else is a bug.
    if (!(error instanceof Problem)) throw error;
    return { ...request, ...sinceStart(), status: 0, error: error.message, responseBody: noBytes };
  }
}

/** Renders the body of a webhook for an event with sample data; `fault` is empty for a success. */
export function renderSampleBody(
  { renderWebhookBody, clock }: Pick<ProbeServices, 'renderWebhookBody' | 'clock'>,
  { org_id, template_path }: Pick<Hook, 'org_id' | 'template_path'>,
  event: EventName,
) {
  const detail = toSampleDetail(event, org_id, clock);
  try {
    const gatewayEvent = { event, atMs: clock.now(), orgId: org_id, apiId: '', detail };
    return { ...renderWebhookBody(template_path, gatewayEvent), fault: '' };
  } catch (error) {
    return { payload: '', contentType: '', fault: `the payload could not be built: ${(error as Error).message}` };
  }
}

const message = 'Test of the webhook';
const dayMs = 86_400_000;

/** Details of an event as the gateway has them, without a real API, key or certificate. */
function toSampleDetail(event: EventName, orgId: string, clock: Clock): Record<string, unknown> {
  if (event === 'CertificateExpiringSoon' || event === 'CertificateExpired') {
    const at = formatIsoTime(clock.now() + (event === 'CertificateExpired' ? -dayMs : dayMs));
    const times =
      event === 'CertificateExpired' ? { expired_at: at, days_since_expiry: 1 } : { expires_at: at, days_remaining: 1 };
    return { message, cert_id: 'test', cert_name: 'test', cert_role: 'client', api_id: 'test', ...times };
  }
  if (event === 'HostDown' || event === 'HostUp') {
    const MetaData = { target_url: 'http://upstream.example/', host_name: 'upstream.example', api_id: 'test' };
    const code = event === 'HostDown' ? 503 : 200;
    return { message, host_info: { CheckURL: MetaData.target_url, ResponseCode: code, IsTCPError: false, MetaData } };
  }
  return {
    message,
    path: '/test',
    origin: '192.0.2.1',
    key: 'test',
    reason: 'test',
    api_id: 'test',
    org_id: orgId,
    trigger_limit: 80,
    usage_percentage: 80,
  };
}
