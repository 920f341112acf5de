import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { EventHandler } from '#definition/facets/event-handlers.ts';
import type { Model } from '#definition/model.ts';
import { groupEnabledByEvent, readOperatorHandlers } from '#events/dispatch.ts';
import { Exchange } from '../pipeline/exchange.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import { eventBudget } from './event-rate-limit.ts';

/** What the main thread hears of an event. */
export interface EventTold {
  readonly event: string;
  readonly detail: Readonly<Record<string, unknown>>;
  /** Of the API, for this event. */
  readonly handlers: readonly EventHandler[];
  /** The call, as handlers may see it; only where there is one who might look. */
  readonly request: string;
}

export interface TellingOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  tell(told: EventTold): void;
  /** Hears how many events were not handed on. */
  untold(count: number): void;
}

const none: readonly EventHandler[] = [];

/** How steps tell handlers what happened. */
export function telling({ settings, clock, log, tell, untold }: TellingOptions): StepServices['emitEvent'] {
  const operators = readOperatorHandlers(settings);
  const ofModels = new WeakMap<Model, ReadonlyMap<string, readonly EventHandler[]>>();
  const budget = eventBudget(clock, dropped => {
    log.warn({ dropped }, 'more happens than handlers can be told');
    untold(dropped);
  });

  function handlersOf(model: Model | undefined, event: string): readonly EventHandler[] {
    if (!model || model.events.handlers.length === 0) return none;
    const known = ofModels.get(model) ?? groupEnabledByEvent(model.events.handlers);
    ofModels.set(model, known);
    return known.get(event) ?? none;
  }

  return (event, about, message, more = {}) => {
    if (!budget.spend(about.api?.orgId ?? '')) return;
    const handlers = handlersOf(about.api?.model, event);
    const isHeard = handlers.length > 0 || operators.has(event);
    tell({
      event,
      detail: {
        message,
        api_id: about.api?.id,
        org_id: about.api?.orgId,
        path: about.path,
        origin: about.clientAddress,
        ...more,
      },
      handlers,
      request: isHeard && about instanceof Exchange ? requestText(about) : '',
    });
  };
}

/** What handlers may see of a call: nothing that could be a credential. */
const shownHeaders = new Set([
  ...['accept', 'accept-encoding', 'accept-language', 'content-encoding', 'content-length', 'content-type'],
  ...['origin', 'traceparent', 'user-agent', 'x-request-id'],
]);
const headerCharacters = 1024;

/** The head of a call as base64. Queries and bodies stay here: keys and passwords travel in them. */
function requestText({ method, path, host, headers }: Exchange): string {
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${host}`];
  for (const [name, value] of headers)
    if (shownHeaders.has(name.toLowerCase())) lines.push(`${name}: ${value.slice(0, headerCharacters)}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`).toString('base64');
}
