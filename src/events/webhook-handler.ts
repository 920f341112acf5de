import { createHash } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import type { Vault } from '#base/vault.ts';
import type { EventHandler } from '#definition/facets/event-handlers.ts';
import type { BodyTemplates, RenderedBody } from './body-template.ts';
import { inlinePrefix } from './deliveries/schema.ts';
import type { NewDelivery } from './deliveries/store.ts';
import type { HookStore } from './hooks/store.ts';
import type { Happened } from './payload.ts';
import { webhookMethod, webhookUrl } from './webhook-shapes.ts';

export const headersPurpose = 'webhook handler headers';

/** What cannot be sent is kept for its author to see, but not over and over. */
const deadMarkMs = 60_000;

/** Where a handler sends what, as it is now. */
interface Wanted {
  readonly hook: string;
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly template: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cooldownMs: number;
  readonly isStored: boolean;
}

export interface MakerOptions {
  readonly hooks: Pick<HookStore, 'find'>;
  readonly vault: Pick<Vault, 'seal'>;
  readonly clock: Clock;
  readonly render: BodyTemplates;
}

export type DeliveryMaker = ReturnType<typeof deliveryMaker>;

/** Makes of an event what a webhook handler asks to be sent. What cannot be made comes out dead, with the reason. */
export function deliveryMaker({ hooks, vault, clock, render }: MakerOptions) {
  async function wantedBy(orgId: string, apiId: string, handler: EventHandler): Promise<Wanted> {
    const { id, cooldownSeconds, bodyTemplate } = handler;
    const stored = id === '' || orgId === '' ? undefined : await hooks.find(orgId, id);
    if (!stored) return inlineOf(apiId, handler);
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

  return async (happened: Happened, handler: EventHandler): Promise<NewDelivery> => {
    const { orgId, apiId, event } = happened;
    const wanted = await wantedBy(orgId, apiId, handler);
    const { body, fault } = attempted(() => {
      checkTarget(wanted, handler);
      return render(wanted.template, happened);
    });
    const given = { orgId, apiId, event, hook: wanted.hook, name: wanted.name };
    const inline = {
      method: wanted.method,
      url: wanted.url,
      sealedHeaders: vault.seal(JSON.stringify(wanted.headers), headersPurpose),
    };
    const place = wanted.isStored ? {} : { inline };
    if (!body) {
      const log = [{ atMs: clock.now(), ms: 0, status: 0, error: fault }];
      const mark = markOf(orgId, wanted, fault);
      return { ...given, ...place, payload: '', contentType: '', log, dead: true, mark, markedForMs: deadMarkMs };
    }
    return {
      ...given,
      ...place,
      ...body,
      log: [],
      dead: false,
      mark: wanted.cooldownMs > 0 ? markOf(orgId, wanted, sameness(happened, body.payload)) : '',
      markedForMs: wanted.cooldownMs,
    };
  };
}

/** A handler that says everything itself. All of one API that call the same address share one queue. */
function inlineOf(apiId: string, { name, method, url, bodyTemplate, headers, cooldownSeconds }: EventHandler): Wanted {
  const called = webhookMethod.safeParse(method.toUpperCase()).data ?? 'GET';
  return {
    hook: inlinePrefix + hashOf([apiId, called, url]).slice(0, 24),
    name,
    method: called,
    url,
    template: bodyTemplate,
    headers,
    cooldownMs: cooldownSeconds * 1000,
    isStored: false,
  };
}

function checkTarget({ isStored, url }: Wanted, { id }: EventHandler): void {
  if (isStored || webhookUrl.safeParse(url).success) return;
  throw new Error(
    id !== '' && url === '' ? `there is no webhook ${id}` : 'the address is not an absolute http or https URL',
  );
}

function attempted(work: () => RenderedBody): { body?: RenderedBody; fault: string } {
  try {
    return { body: work(), fault: '' };
  } catch (error) {
    return { fault: `nothing could be sent: ${(error as Error).message}` };
  }
}

const hashOf = (parts: readonly unknown[]) => createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/** Calls that say the same to the same are one. */
const markOf = (orgId: string, { hook, method, url }: Wanted, text: string) => hashOf([orgId, hook, method, url, text]);

/** A certificate's events differ by the hour, but are about the same end. */
function sameness({ event, detail, apiId }: Happened, payload: string): string {
  const { cert_id, expires_at, expired_at } = detail;
  return cert_id === undefined ? payload : hashOf([event, cert_id, expires_at ?? expired_at, apiId]);
}
