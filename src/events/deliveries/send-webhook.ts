import { type Clock, toUnixSeconds } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { OutboundResponse } from '#base/http-client/response.ts';
import type { Settings } from '#base/settings.ts';
import type { HookSecretStore } from '../hooks/secret-store.ts';
import { signPayload } from './signature.ts';

export interface WebhookCallServices {
  readonly hookSecrets: Pick<HookSecretStore, 'readSigningSecrets'>;
  readonly outbound: OutboundClient;
  readonly clock: Clock;
  readonly settings: Settings;
}

export interface WebhookTarget {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Name of the secret that signs the call. */
  readonly secret: string;
}

export interface WebhookCall {
  readonly target: WebhookTarget;
  /** Empty for the operator's own webhooks. */
  readonly orgId: string;
  readonly event: string;
  readonly deliveryId: string;
  readonly payload: string;
  readonly contentType: string;
  /** Overrides `events.timeout_ms`. */
  readonly timeoutMs?: number | undefined;
  readonly extraHeaders?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Bounds the timeout that a webhook configures. */
export const maxWebhookTimeoutMs = 60_000;
const maxResponseBytes = 65_536;

const methodsWithoutBody = new Set(['GET', 'DELETE']);

/** Body of the request: some methods have none. */
export const toRequestBody = (method: string, payload: string): string =>
  methodsWithoutBody.has(method) ? '' : payload;

/** Sends one signed call through the guarded client, within the networks of the organisation. */
export async function sendWebhook(services: WebhookCallServices, call: WebhookCall): Promise<OutboundResponse> {
  const { hookSecrets, outbound, clock, settings } = services;
  const { target, orgId, signal } = call;
  const atMs = clock.now();
  const body = toRequestBody(target.method, call.payload);
  const secrets = await hookSecrets.readSigningSecrets(orgId, target.secret, atMs);
  return outbound.fetch({
    url: target.url,
    method: target.method,
    headers: {
      'user-agent': 'Gw-Hookshot',
      ...(body !== '' && call.contentType !== '' && { 'content-type': call.contentType }),
      ...lowerCaseNames(target.headers),
      'x-gw-event': call.event,
      'x-gw-delivery': call.deliveryId,
      'x-gw-signature': signPayload(secrets, toUnixSeconds(atMs), body),
      ...call.extraHeaders,
    },
    ...(body !== '' && { body }),
    audience: 'operator',
    orgId,
    timeoutMs: Math.min(call.timeoutMs ?? settings['events.timeout_ms'], maxWebhookTimeoutMs),
    maxBytes: maxResponseBytes,
    ...(signal && { signal }),
  });
}

/** Empty for a success. */
export const toStatusError = (status: number): string => (status >= 200 && status < 300 ? '' : `it answered ${status}`);

/** Header names are case-insensitive: a name in two spellings is sent once. */
const lowerCaseNames = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
