import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { Lru } from '#base/lru.ts';
import type { Settings } from '#base/settings.ts';
import { type EventHandler, eventHandlerList } from '#definition/facets/event-handlers.ts';
import { toDatabaseProblem } from '#storage/database-errors.ts';
import type { DeliveryStore, NewDelivery } from './deliveries/store.ts';
import { eventNames, formatLogLine, type GatewayEvent } from './payload.ts';
import type { DeliveryBuilder } from './webhook-handler.ts';

export interface DispatchOptions {
  readonly deliveries: DeliveryStore;
  readonly buildDelivery: DeliveryBuilder;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
  /** Told when something new waits to be sent. */
  readonly onDeliveriesAdded: () => void;
}

/** Events that wait to be written down: of one organisation, and of all. More are dropped, and counted. */
export const maxQueuedEvents = { perOrganisation: 1000, inAll: 10_000 };
/** Events written in one go. */
const maxEventsPerWrite = 200;
/** Deliveries and refusals to tell again that are remembered without asking the database. */
const maxCachedKeys = 10_000;
/** After a failure to write. */
const retryDelayMs = 1000;
const maxReportedHandlers = 1000;

interface QueuedEvent {
  readonly gatewayEvent: GatewayEvent;
  readonly handlers: readonly EventHandler[];
}

export type Dispatch = ReturnType<typeof startDispatch>;

/** Turns what happens into log lines and into deliveries, which are on disk before anything is sent. */
export function startDispatch({ deliveries, buildDelivery, clock, log, settings, onDeliveriesAdded }: DispatchOptions) {
  const queue: QueuedEvent[] = [];
  const queuedByOrg = new Map<string, number>();
  const cooldownUntil = new Lru<string, number>(maxCachedKeys);
  const reportedHandlers = new Lru<string, true>(maxReportedHandlers);
  const counts = { events: 0, deliveries: 0, droppedInMemory: 0, droppedInQueue: 0, cooledDown: 0 };
  const operatorHandlers = readOperatorHandlers(settings);
  let writing: Promise<void> | undefined;
  let isClosing = false;
  for (const event of operatorHandlers.keys())
    if (!(eventNames as readonly string[]).includes(event))
      log.warn({ event }, 'events.handlers: no event has this name');

  /** What needs no queue. Gives what is left. */
  function handleImmediately(gatewayEvent: GatewayEvent, handlers: readonly EventHandler[]): EventHandler[] {
    for (const { type, logPrefix } of handlers)
      if (type === 'log')
        log.warn({ event: gatewayEvent.event, api_id: gatewayEvent.apiId }, formatLogLine(gatewayEvent, logPrefix));
    for (const { type, functionName, name } of handlers.filter(it => !supportedTypes.has(it.type))) {
      const which = `${gatewayEvent.apiId}\n${type}\n${functionName || name}`;
      if (reportedHandlers.get(which)) continue;
      reportedHandlers.set(which, true);
      log.warn(
        { event: gatewayEvent.event, api_id: gatewayEvent.apiId, type },
        'an event handler of this type cannot run yet',
      );
    }
    return handlers.filter(({ type }) => type === 'webhook');
  }

  function enqueue(gatewayEvent: GatewayEvent, handlers: readonly EventHandler[]): void {
    const waiting = queuedByOrg.get(gatewayEvent.orgId) ?? 0;
    if (waiting >= maxQueuedEvents.perOrganisation || queue.length >= maxQueuedEvents.inAll) {
      counts.droppedInMemory++;
      return;
    }
    queuedByOrg.set(gatewayEvent.orgId, waiting + 1);
    queue.push({ gatewayEvent, handlers });
    writing ??= write();
  }

  async function write(): Promise<void> {
    // What comes in at the same moment is written together.
    await new Promise(resolve => setImmediate(resolve));
    while (queue.length > 0) {
      const batch = queue.slice(0, maxEventsPerWrite);
      try {
        await writeBatch(batch);
      } catch (error) {
        if (isTemporary(error)) {
          log.warn({ reason: (error as Error).message }, 'events could not be written down yet');
          if (isClosing) break;
          await new Promise(resolve => setTimeout(resolve, retryDelayMs));
          continue;
        }
        // What cannot be written today cannot be tomorrow, and must not keep the rest waiting.
        log.error({ err: error }, 'events are lost');
        counts.droppedInMemory += batch.length;
      }
      queue.splice(0, batch.length);
      for (const { gatewayEvent } of batch) releaseSlot(gatewayEvent.orgId);
    }
    writing = undefined;
  }

  function releaseSlot(orgId: string): void {
    const remaining = (queuedByOrg.get(orgId) ?? 1) - 1;
    if (remaining > 0) queuedByOrg.set(orgId, remaining);
    else queuedByOrg.delete(orgId);
  }

  async function writeBatch(batch: readonly QueuedEvent[]): Promise<void> {
    const nowMs = clock.now();
    const newDeliveries: NewDelivery[] = [];
    for (const { gatewayEvent, handlers } of batch)
      for (const handler of handlers) {
        const delivery = await buildDelivery(gatewayEvent, handler);
        if ((cooldownUntil.get(delivery.deduplicationKey) ?? 0) > nowMs) counts.cooledDown++;
        else newDeliveries.push(delivery);
      }
    if (newDeliveries.length === 0) return;
    const { kept: added, full: droppedInQueue } = await deliveries.add(
      newDeliveries,
      nowMs,
      settings['events.max_queued'],
    );
    for (const { deduplicationKey, deduplicationMs } of added)
      if (deduplicationKey !== '') cooldownUntil.set(deduplicationKey, nowMs + deduplicationMs);
    counts.deliveries += added.length;
    counts.droppedInQueue += droppedInQueue;
    counts.cooledDown += newDeliveries.length - added.length - droppedInQueue;
    if (added.length > 0) onDeliveriesAdded();
  }

  return {
    /** `handlers` are those of the API for this event. Never waits. */
    take(gatewayEvent: GatewayEvent, handlers: readonly EventHandler[] = []): void {
      counts.events++;
      const apiHandlers = handleImmediately(gatewayEvent, handlers);
      if (apiHandlers.length > 0) enqueue(gatewayEvent, apiHandlers);
      // What the operator hears of is nobody else's to see.
      const operatorWebhooks = handleImmediately(gatewayEvent, operatorHandlers.get(gatewayEvent.event) ?? []);
      if (operatorWebhooks.length > 0)
        enqueue(
          { ...gatewayEvent, orgId: '', detail: { org_id: gatewayEvent.orgId, ...gatewayEvent.detail } },
          operatorWebhooks,
        );
    },
    countDropped(count: number): void {
      counts.droppedInMemory += count;
    },
    counts: () => ({ ...counts, held: queue.length }),
    /** Resolves when what was taken so far is on disk. */
    waitUntilWritten: async () => writing,
    async close(): Promise<void> {
      isClosing = true;
      await writing;
    },
  };
}

/** A database that does not answer, or is full, will be there again. */
const isTemporary = (error: unknown) => (toDatabaseProblem(error)?.status ?? 0) >= 500;

const supportedTypes = new Set(['webhook', 'log']);

/** What the settings say in the classic form, by event. */
export function readOperatorHandlers(settings: Settings): ReadonlyMap<string, readonly EventHandler[]> {
  return groupEnabledByEvent(eventHandlerList.classic.read(settings['events.handlers']));
}

export const groupEnabledByEvent = (handlers: readonly EventHandler[]): ReadonlyMap<string, readonly EventHandler[]> =>
  Map.groupBy(
    handlers.filter(({ enabled }) => enabled),
    ({ trigger }) => trigger,
  );
