import { createHash } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import type { Vault } from '#base/vault.ts';
import type { EventHandler } from '#definition/facets/event-handlers.ts';
import type { BodyRenderer, RenderedBody } from './body-template.ts';
import { inlinePrefix } from './deliveries/schema.ts';
import type { NewDelivery } from './deliveries/store.ts';
import type { HookStore } from './hooks/store.ts';
import type { GatewayEvent } from './payload.ts';
import { webhookMethod, webhookUrl } from './webhook-shapes.ts';

export const headersPurpose = 'webhook handler headers';

/** Deduplication of dead letters, so that a broken handler does not fill the log. */
const deadDeduplicationMs = 60_000;

/** Resolved target of a webhook handler. */
interface ResolvedTarget {
  readonly hook: string;
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly template: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cooldownMs: number;
  readonly isStored: boolean;
}

export interface DeliveryBuilderOptions {
  readonly hooks: Pick<HookStore, 'find'>;
  readonly vault: Pick<Vault, 'seal'>;
  readonly clock: Clock;
  readonly render: BodyRenderer;
}

export type DeliveryBuilder = ReturnType<typeof createDeliveryBuilder>;

/** Builds the delivery of an event for a webhook handler. One that cannot be rendered is dead, with the reason. */
export function createDeliveryBuilder({ hooks, vault, clock, render }: DeliveryBuilderOptions) {
  async function resolveTarget(orgId: string, apiId: string, handler: EventHandler): Promise<ResolvedTarget> {
    const { id, cooldownSeconds, bodyTemplate } = handler;
    const stored = id === '' || orgId === '' ? undefined : await hooks.find(orgId, id);
    if (!stored) return toInlineTarget(apiId, handler);
    return {
      hook: stored.id,
      name: stored.name,
      method: stored.method,
      url: stored.target_path,
      template: bodyTemplate || stored.template_path,
      headers: stored.header_map,
      cooldownMs: (cooldownSeconds || stored.event_timeout) * 1000,
      isStored: true,
    };
  }

  return async (gatewayEvent: GatewayEvent, handler: EventHandler): Promise<NewDelivery> => {
    const { orgId, apiId, event } = gatewayEvent;
    const target = await resolveTarget(orgId, apiId, handler);
    const { body, fault } = tryRender(() => {
      checkTarget(target, handler);
      return render(target.template, gatewayEvent);
    });
    const { cause } = gatewayEvent;
    const identity = { orgId, apiId, event, hook: target.hook, name: target.name, ...(cause && { cause }) };
    const inline = {
      method: target.method,
      url: target.url,
      sealedHeaders: vault.seal(JSON.stringify(target.headers), headersPurpose),
    };
    const inlinePart = target.isStored ? {} : { inline };
    if (!body) {
      const log = [{ atMs: clock.now(), ms: 0, status: 0, error: fault }];
      const deduplicationKey = toDeduplicationKey(orgId, target, fault);
      return {
        ...identity,
        ...inlinePart,
        payload: '',
        contentType: '',
        log,
        isDead: true,
        deduplicationKey,
        deduplicationMs: deadDeduplicationMs,
      };
    }
    return {
      ...identity,
      ...inlinePart,
      ...body,
      log: [],
      isDead: false,
      deduplicationKey:
        target.cooldownMs > 0 ? toDeduplicationKey(orgId, target, toIdentityText(gatewayEvent, body.payload)) : '',
      deduplicationMs: target.cooldownMs,
    };
  };
}

/** Inline handler. Those of one API with the same method and URL share one queue. */
function toInlineTarget(
  apiId: string,
  { name, method, url, bodyTemplate, headers, cooldownSeconds }: EventHandler,
): ResolvedTarget {
  const supportedMethod = webhookMethod.safeParse(method.toUpperCase()).data ?? 'GET';
  return {
    hook: inlinePrefix + hashParts([apiId, supportedMethod, url]).slice(0, 24),
    name,
    method: supportedMethod,
    url,
    template: bodyTemplate,
    headers,
    cooldownMs: cooldownSeconds * 1000,
    isStored: false,
  };
}

function checkTarget({ isStored, url }: ResolvedTarget, { id }: EventHandler): void {
  if (isStored || webhookUrl.safeParse(url).success) return;
  throw new Error(
    id !== '' && url === ''
      ? `the webhook ${id} does not exist`
      : 'the webhook URL is not an absolute http or https URL',
  );
}

function tryRender(work: () => RenderedBody): { body?: RenderedBody; fault: string } {
  try {
    return { body: work(), fault: '' };
  } catch (error) {
    return { fault: `the payload could not be built: ${(error as Error).message}` };
  }
}

const hashParts = (parts: readonly unknown[]) => createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/** Equal payloads to the same target have one key. */
const toDeduplicationKey = (orgId: string, { hook, method, url }: ResolvedTarget, text: string) =>
  hashParts([orgId, hook, method, url, text]);

/** Certificate events differ in their remaining time, but are about the same expiry. */
function toIdentityText({ event, detail, apiId }: GatewayEvent, payload: string): string {
  const { cert_id, expires_at, expired_at } = detail;
  return cert_id === undefined ? payload : hashParts([event, cert_id, expires_at ?? expired_at, apiId]);
}
