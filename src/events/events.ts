import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import type { Records } from '#storage/records.ts';
import { bodyTemplates } from './body-template.ts';
import { laneStore } from './deliveries/lane-store.ts';
import { type Sender, type SenderOptions, startSender } from './deliveries/sender.ts';
import { deliveryStore } from './deliveries/store.ts';
import { startDispatch } from './dispatch.ts';
import { hookSecretStore } from './hooks/secret-store.ts';
import type { HookStore } from './hooks/store.ts';
import type { EventName } from './payload.ts';
import { deliveryMaker } from './webhook-handler.ts';

export interface EventSurroundings {
  readonly records: Records;
  readonly vault: Vault;
  readonly hooks: HookStore;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
}

/** Tells handlers of something no API is part of. Never waits. */
export type Tell = (event: EventName, orgId: string, detail: Readonly<Record<string, unknown>>) => void;

/** From what happens to calls of webhooks. They are made once a sender runs; until then they wait in the records. */
export function openEvents({ records, vault, hooks, settings, clock, log }: EventSurroundings) {
  const deliveries = deliveryStore(records);
  let sender: Sender | undefined;
  const wakeSender = () => sender?.wake();
  const make = deliveryMaker({ hooks, vault, clock, render: bodyTemplates(settings['templates.directory']) });
  const events = startDispatch({ deliveries, make, clock, log, settings, onWritten: wakeSender });
  const happened: Tell = (event, orgId, detail) =>
    events.take({ event, atMs: clock.now(), orgId, apiId: '', detail: { org_id: orgId, ...detail } });
  return {
    deliveries,
    hookSecrets: hookSecretStore(records, vault),
    events,
    wakeSender,
    happened,
    sending: {
      set: (running: Sender) => {
        sender = running;
      },
      totals: () => sender?.totals() ?? { delivered: 0, failed: 0, dead: 0 },
    },
  };
}

type Sending = Omit<SenderOptions, 'lanes'> & {
  readonly records: Records;
  readonly sending: { set(running: Sender): void };
};

/** `node` names this process among those on the database, also after it was stopped and started again. */
export function startSending(options: Sending, node: string): Sender {
  const sender = startSender({ ...options, lanes: laneStore(options.records, node) });
  options.sending.set(sender);
  return sender;
}
