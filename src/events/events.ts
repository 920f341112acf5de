import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import type { Records } from '#storage/records.ts';
import { createBodyRenderer } from './body-template.ts';
import { createDeadLetterStore } from './deliveries/dead-letter-store.ts';
import { createHealthStore } from './deliveries/health-store.ts';
import { createLaneStore } from './deliveries/lane-store.ts';
import { createDeliveryStore } from './deliveries/store.ts';
import { startWebhookSender, type WebhookSender, type WebhookSenderOptions } from './deliveries/webhook-sender.ts';
import { createDeliveryBuilder } from './delivery-builder.ts';
import { type EventScriptSink, startDispatch } from './dispatch.ts';
import { createProbeLimit } from './hooks/probe.ts';
import { createHookSecretStore } from './hooks/secret-store.ts';
import type { HookStore } from './hooks/store.ts';
import type { EventName } from './payload.ts';

export interface EventsOptions {
  readonly records: Records;
  readonly vault: Vault;
  readonly hooks: HookStore;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
}

/** Emits an event that belongs to no API. Never blocks. */
export type EmitEvent = (event: EventName, orgId: string, detail: Readonly<Record<string, unknown>>) => void;

/** Event pipeline: emit, store as deliveries, send. Deliveries wait in the database until a sender runs. */
export function openEvents({ records, vault, hooks, settings, clock, log }: EventsOptions) {
  const deliveries = createDeliveryStore(records);
  let sender: WebhookSender | undefined;
  const spanSink: WebhookSenderOptions['spanSink'] = { add: undefined };
  const scriptSink: EventScriptSink = { run: undefined };
  const wakeSender = () => sender?.wake();
  const renderWebhookBody = createBodyRenderer(settings['templates.directory']);
  const make = createDeliveryBuilder({ hooks, vault, clock, render: renderWebhookBody });
  const events = startDispatch({
    deliveries,
    buildDelivery: make,
    clock,
    log,
    settings,
    scriptSink,
    onDeliveriesAdded: wakeSender,
  });
  const emitEvent: EmitEvent = (event, orgId, detail) =>
    events.emit({ event, atMs: clock.now(), orgId, apiId: '', detail: { org_id: orgId, ...detail } });
  return {
    deliveries,
    deliveryHealth: createHealthStore(records),
    deadLetters: createDeadLetterStore(records),
    hookSecrets: createHookSecretStore(records, vault),
    hookProbes: createProbeLimit(),
    renderWebhookBody,
    events,
    wakeSender,
    emitEvent,
    spanSink,
    scriptSink,
    sending: {
      set: (running: WebhookSender) => {
        sender = running;
      },
      totals: () => sender?.totals() ?? { delivered: 0, failed: 0, dead: 0 },
    },
  };
}

type SendingOptions = Omit<WebhookSenderOptions, 'lanes'> & {
  readonly records: Records;
  readonly sending: { set(running: WebhookSender): void };
};

/** `node` identifies this process among those on the database, also after a restart. */
export function startSending(options: SendingOptions, node: string): WebhookSender {
  const sender = startWebhookSender({ ...options, lanes: createLaneStore(options.records, node) });
  options.sending.set(sender);
  return sender;
}
