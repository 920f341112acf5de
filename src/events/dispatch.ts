import { setImmediate as nextTick, setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { Lru } from '#base/lru.ts';
import type { Settings } from '#base/settings.ts';
import { type EventHandler, eventHandlerList } from '#definition/facets/event-handlers.ts';
import { toDatabaseProblem } from '#storage/database-errors.ts';
import type { DeliveryStore, NewDelivery } from './deliveries/store.ts';
import type { DeliveryBuilder } from './delivery-builder.ts';
import { eventNames, formatLogLine, type GatewayEvent } from './payload.ts';

export interface DispatchOptions {
  readonly deliveries: DeliveryStore;
  readonly buildDelivery: DeliveryBuilder;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
  /** Runs scripts of handlers; undefined where this process runs none. */
  readonly scriptSink: EventScriptSink;
  /** Called when deliveries were added. */
  readonly onDeliveriesAdded: () => void;
}

/** Runs the script of a handler, without waiting for it. */
export type RunEventScript = (event: GatewayEvent, handler: EventHandler, owner: HandlerOwner) => void;

/** Set by the part of the process that runs scripts. */
export interface EventScriptSink {
  run: RunEventScript | undefined;
}

/** Type of handlers that are calls of a plugin server, in the classic format. */
export const pluginHandlerType = 'cp_dynamic_handler';

/** Handlers of a definition belong to the organisation of the event, those of the settings to the operator. */
export type HandlerOwner = 'organisation' | 'operator';

/** Events queued in memory: per organisation, and in total. Further events are dropped, and counted. */
const maxQueuedEvents = { perOrganisation: 1000, inAll: 10_000 };
const maxEventsPerWrite = 200;
/** Deduplication keys cached in memory, to save database queries. */
const maxCachedKeys = 10_000;
/** Pause after a failed write. */
const retryDelayMs = 1000;
const maxReportedHandlers = 1000;

interface QueuedEvent {
  readonly gatewayEvent: GatewayEvent;
  readonly handlers: readonly EventHandler[];
}

interface DispatchCounts {
  events: number;
  deliveries: number;
  droppedInMemory: number;
  droppedInQueue: number;
  cooledDown: number;
}

export type Dispatch = ReturnType<typeof startDispatch>;

/** Turns events into log lines and deliveries; deliveries are stored before anything is sent. */
export function startDispatch(options: DispatchOptions) {
  const { log, settings } = options;
  const counts: DispatchCounts = { events: 0, deliveries: 0, droppedInMemory: 0, droppedInQueue: 0, cooledDown: 0 };
  const queue = createEventQueue();
  const handleImmediately = createImmediateHandler(log, options.scriptSink);
  const writer = createQueueWriter(queue, createBatchWriter(options, counts), counts, log);
  const operatorHandlers = readOperatorHandlers(settings);
  reportUnknownEvents(operatorHandlers, log);

  function enqueue(gatewayEvent: GatewayEvent, handlers: readonly EventHandler[]): void {
    if (queue.add({ gatewayEvent, handlers })) writer.start();
    else counts.droppedInMemory++;
  }

  /** Never blocks. `handlers` are the API's handlers of this event. */
  function emit(gatewayEvent: GatewayEvent, handlers: readonly EventHandler[] = []): void {
    counts.events++;
    const apiHandlers = handleImmediately(gatewayEvent, handlers, 'organisation');
    if (apiHandlers.length > 0) enqueue(gatewayEvent, apiHandlers);
    const ofOperator = operatorHandlers.get(gatewayEvent.event) ?? [];
    const operatorWebhooks = handleImmediately(gatewayEvent, ofOperator, 'operator');
    if (operatorWebhooks.length > 0) enqueue(toOperatorEvent(gatewayEvent), operatorWebhooks);
  }

  return {
    emit,
    countDropped(count: number): void {
      counts.droppedInMemory += count;
    },
    counts: () => ({ ...counts, held: queue.size }),
    /** Resolves when all events so far are stored. */
    waitUntilWritten: writer.wait,
    close: writer.close,
  };
}

/** Stores queued events in batches while there are any; a temporary failure is retried. */
function createQueueWriter(
  queue: EventQueue,
  writeBatch: (batch: readonly QueuedEvent[]) => Promise<void>,
  counts: DispatchCounts,
  log: Log,
) {
  let writing: Promise<void> | undefined;
  let isClosing = false;

  async function write(): Promise<void> {
    // Batches events of the same tick.
    await nextTick();
    while (queue.size > 0) {
      const batch = queue.peek(maxEventsPerWrite);
      if (await tryWrite(batch)) queue.removeFirst(batch.length);
      else if (isClosing) break;
      else await wait(retryDelayMs);
    }
    writing = undefined;
  }

  /** False where the batch has to be written again. */
  async function tryWrite(batch: readonly QueuedEvent[]): Promise<boolean> {
    try {
      await writeBatch(batch);
    } catch (error) {
      if (isTemporary(error)) {
        log.warn({ reason: (error as Error).message }, 'events not stored, retrying');
        return false;
      }
      // Not a database outage, so a retry would fail too and block the queue.
      log.error({ err: error }, 'events not stored, dropped');
      counts.droppedInMemory += batch.length;
    }
    return true;
  }

  return {
    start(): void {
      writing ??= write();
    },
    wait: async (): Promise<void> => writing,
    async close(): Promise<void> {
      isClosing = true;
      await writing;
    },
  };
}

function reportUnknownEvents(operatorHandlers: ReadonlyMap<string, unknown>, log: Log): void {
  for (const event of operatorHandlers.keys())
    if (!(eventNames as readonly string[]).includes(event))
      log.warn({ event }, 'events.handlers names an unknown event');
}

/** Deliveries to the operator's handlers belong to no organisation. */
const toOperatorEvent = (event: GatewayEvent): GatewayEvent => ({
  ...event,
  orgId: '',
  detail: { org_id: event.orgId, ...event.detail },
});

type EventQueue = ReturnType<typeof createEventQueue>;

/** Events that wait to be stored, bounded in all and for each organisation. */
function createEventQueue() {
  const queue: QueuedEvent[] = [];
  const queuedByOrg = new Map<string, number>();
  return {
    get size() {
      return queue.length;
    },
    /** False where there is no room. */
    add(event: QueuedEvent): boolean {
      const { orgId } = event.gatewayEvent;
      const waiting = queuedByOrg.get(orgId) ?? 0;
      if (waiting >= maxQueuedEvents.perOrganisation || queue.length >= maxQueuedEvents.inAll) return false;
      queuedByOrg.set(orgId, waiting + 1);
      queue.push(event);
      return true;
    },
    peek: (count: number) => queue.slice(0, count),
    removeFirst(count: number): void {
      for (const { gatewayEvent } of queue.splice(0, count)) releaseSlot(queuedByOrg, gatewayEvent.orgId);
    },
  };
}

function releaseSlot(queuedByOrg: Map<string, number>, orgId: string): void {
  const remaining = (queuedByOrg.get(orgId) ?? 1) - 1;
  if (remaining > 0) queuedByOrg.set(orgId, remaining);
  else queuedByOrg.delete(orgId);
}

/** Runs log handlers and scripts, reports unsupported ones, and returns the webhook handlers. */
function createImmediateHandler(log: Log, scripts: EventScriptSink) {
  const reportedHandlers = new Lru<string, true>(maxReportedHandlers);

  function reportUnsupported({ event, apiId }: GatewayEvent, { type, functionName, name }: EventHandler): void {
    const which = `${apiId}\n${type}\n${functionName || name}`;
    if (reportedHandlers.get(which)) return;
    reportedHandlers.set(which, true);
    log.warn({ event, api_id: apiId, type }, 'event handler type unsupported, skipped');
  }

  return (gatewayEvent: GatewayEvent, handlers: readonly EventHandler[], owner: HandlerOwner): EventHandler[] => {
    const { event, apiId } = gatewayEvent;
    for (const handler of handlers) {
      const { type, logPrefix } = handler;
      if (type === 'log') log.warn({ event, api_id: apiId }, formatLogLine(gatewayEvent, logPrefix));
      else if ((type === 'custom' || type === pluginHandlerType) && scripts.run)
        scripts.run(gatewayEvent, handler, owner);
      else if (type !== 'webhook') reportUnsupported(gatewayEvent, handler);
    }
    return handlers.filter(({ type }) => type === 'webhook');
  };
}

/** Builds the deliveries of a batch and stores them, except those in cooldown. */
function createBatchWriter(options: DispatchOptions, counts: DispatchCounts) {
  const { deliveries, buildDelivery, clock, settings, onDeliveriesAdded } = options;
  const cooldownUntil = new Lru<string, number>(maxCachedKeys);
  return async (batch: readonly QueuedEvent[]): Promise<void> => {
    const nowMs = clock.now();
    const newDeliveries: NewDelivery[] = [];
    for (const { gatewayEvent, handlers } of batch)
      for (const handler of handlers) {
        const delivery = await buildDelivery(gatewayEvent, handler);
        if ((cooldownUntil.get(delivery.deduplicationKey) ?? 0) > nowMs) counts.cooledDown++;
        else newDeliveries.push(delivery);
      }
    if (newDeliveries.length === 0) return;
    const { added, dropped } = await deliveries.add(newDeliveries, nowMs, settings['events.max_queued']);
    for (const { deduplicationKey, deduplicationMs } of added)
      if (deduplicationKey !== '') cooldownUntil.set(deduplicationKey, nowMs + deduplicationMs);
    counts.deliveries += added.length;
    counts.droppedInQueue += dropped;
    counts.cooledDown += newDeliveries.length - added.length - dropped;
    if (added.length > 0) onDeliveriesAdded();
  };
}

/** A database that is unavailable or full recovers. */
const isTemporary = (error: unknown) => (toDatabaseProblem(error)?.status ?? 0) >= 500;

/** Handlers of the settings, in the classic format, by event. */
export function readOperatorHandlers(settings: Settings): ReadonlyMap<string, readonly EventHandler[]> {
  return groupEnabledByEvent(eventHandlerList.classic.decode(settings['events.handlers']));
}

export const groupEnabledByEvent = (handlers: readonly EventHandler[]): ReadonlyMap<string, readonly EventHandler[]> =>
  Map.groupBy(
    handlers.filter(({ enabled }) => enabled),
    ({ trigger }) => trigger,
  );
