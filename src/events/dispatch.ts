import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { Lru } from '#base/lru.ts';
import type { Settings } from '#base/settings.ts';
import { type EventHandler, eventHandlerList } from '#definition/facets/event-handlers.ts';
import { toDatabaseProblem } from '#storage/database-errors.ts';
import type { DeliveryStore, NewDelivery } from './deliveries/store.ts';
import { eventNames, type Happened, logLine } from './payload.ts';
import type { DeliveryMaker } from './webhook-handler.ts';

export interface DispatchOptions {
  readonly deliveries: DeliveryStore;
  readonly make: DeliveryMaker;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
  /** Told when something new waits to be sent. */
  readonly onWritten: () => void;
}

/** Events that wait to be written down: of one organisation, and of all. More are dropped, and counted. */
export const eventsHeld = { perOrganisation: 1000, inAll: 10_000 };
/** Events written in one go. */
const eventsAtOnce = 200;
/** Deliveries and refusals to tell again that are remembered without asking the database. */
const marksKept = 10_000;
/** After a failure to write. */
const pauseMs = 1000;
const customToldAtMost = 1000;

interface Held {
  readonly happened: Happened;
  readonly handlers: readonly EventHandler[];
}

export type Dispatch = ReturnType<typeof startDispatch>;

/** Turns what happens into log lines and into deliveries, which are on disk before anything is sent. */
export function startDispatch({ deliveries, make, clock, log, settings, onWritten }: DispatchOptions) {
  const held: Held[] = [];
  const heldOf = new Map<string, number>();
  const told = new Lru<string, number>(marksKept);
  const customTold = new Lru<string, true>(customToldAtMost);
  const counts = { events: 0, deliveries: 0, droppedInMemory: 0, droppedInQueue: 0, cooledDown: 0 };
  const operators = handlersOfOperator(settings);
  let writing: Promise<void> | undefined;
  let closing = false;
  for (const event of operators.keys())
    if (!(eventNames as readonly string[]).includes(event))
      log.warn({ event }, 'events.handlers: no event has this name');

  /** What needs no queue. Gives what is left. */
  function handledAtOnce(happened: Happened, handlers: readonly EventHandler[]): EventHandler[] {
    for (const { type, logPrefix } of handlers)
      if (type === 'log') log.warn({ event: happened.event, api_id: happened.apiId }, logLine(happened, logPrefix));
    for (const { type, functionName, name } of handlers.filter(it => !runnable.has(it.type))) {
      const which = `${happened.apiId}\n${type}\n${functionName || name}`;
      if (customTold.get(which)) continue;
      customTold.set(which, true);
      log.warn({ event: happened.event, api_id: happened.apiId, type }, 'an event handler of this type cannot run yet');
    }
    return handlers.filter(({ type }) => type === 'webhook');
  }

  function hold(happened: Happened, handlers: readonly EventHandler[]): void {
    const waiting = heldOf.get(happened.orgId) ?? 0;
    if (waiting >= eventsHeld.perOrganisation || held.length >= eventsHeld.inAll) {
      counts.droppedInMemory++;
      return;
    }
    heldOf.set(happened.orgId, waiting + 1);
    held.push({ happened, handlers });
    writing ??= write();
  }

  async function write(): Promise<void> {
    // What comes in at the same moment is written together.
    await new Promise(resolve => setImmediate(resolve));
    while (held.length > 0) {
      const some = held.slice(0, eventsAtOnce);
      try {
        await keep(some);
      } catch (error) {
        if (isAway(error)) {
          log.warn({ reason: (error as Error).message }, 'events could not be written down yet');
          if (closing) break;
          await new Promise(resolve => setTimeout(resolve, pauseMs));
          continue;
        }
        // What cannot be written today cannot be tomorrow, and must not keep the rest waiting.
        log.error({ err: error }, 'events are lost');
        counts.droppedInMemory += some.length;
      }
      held.splice(0, some.length);
      for (const { happened } of some) forget(happened.orgId);
    }
    writing = undefined;
  }

  function forget(orgId: string): void {
    const left = (heldOf.get(orgId) ?? 1) - 1;
    if (left > 0) heldOf.set(orgId, left);
    else heldOf.delete(orgId);
  }

  async function keep(some: readonly Held[]): Promise<void> {
    const nowMs = clock.now();
    const made: NewDelivery[] = [];
    for (const { happened, handlers } of some)
      for (const handler of handlers) {
        const delivery = await make(happened, handler);
        if ((told.get(delivery.mark) ?? 0) > nowMs) counts.cooledDown++;
        else made.push(delivery);
      }
    if (made.length === 0) return;
    const { kept, full } = await deliveries.add(made, nowMs, settings['events.queue']);
    for (const { mark, markedForMs } of kept) if (mark !== '') told.set(mark, nowMs + markedForMs);
    counts.deliveries += kept.length;
    counts.droppedInQueue += full;
    counts.cooledDown += made.length - kept.length - full;
    if (kept.length > 0) onWritten();
  }

  return {
    /** `handlers` are those of the API for this event. Never waits. */
    take(happened: Happened, handlers: readonly EventHandler[] = []): void {
      counts.events++;
      const own = handledAtOnce(happened, handlers);
      if (own.length > 0) hold(happened, own);
      // What the operator hears of is nobody else's to see.
      const above = handledAtOnce(happened, operators.get(happened.event) ?? []);
      if (above.length > 0)
        hold({ ...happened, orgId: '', detail: { org_id: happened.orgId, ...happened.detail } }, above);
    },
    dropped(count: number): void {
      counts.droppedInMemory += count;
    },
    counts: () => ({ ...counts, held: held.length }),
    /** Resolves when what was taken so far is on disk. */
    settled: async () => writing,
    async close(): Promise<void> {
      closing = true;
      await writing;
    },
  };
}

/** A database that does not answer, or is full, will be there again. */
const isAway = (error: unknown) => (toDatabaseProblem(error)?.status ?? 0) >= 500;

const runnable = new Set(['webhook', 'log']);

/** What the settings say in the classic form, by event. */
export function handlersOfOperator(settings: Settings): ReadonlyMap<string, readonly EventHandler[]> {
  return enabledByEvent(eventHandlerList.classic.read(settings['events.handlers']));
}

export const enabledByEvent = (handlers: readonly EventHandler[]): ReadonlyMap<string, readonly EventHandler[]> =>
  Map.groupBy(
    handlers.filter(({ enabled }) => enabled),
    ({ trigger }) => trigger,
  );
