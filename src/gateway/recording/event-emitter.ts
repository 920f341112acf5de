import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { SpanLink } from '#base/otlp/span.ts';
import type { Settings } from '#base/settings.ts';
import type { EventHandler } from '#definition/facets/event-handlers.ts';
import type { Model } from '#definition/model.ts';
import { groupEnabledByEvent, readOperatorHandlers } from '#events/dispatch.ts';
import { Exchange } from '../pipeline/exchange.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import { createEventRateLimit } from './event-rate-limit.ts';

/** An event as posted to the main thread. */
export interface EmittedEvent {
  readonly event: string;
  readonly detail: Readonly<Record<string, unknown>>;
  /** The API's handlers for this event. */
  readonly handlers: readonly EventHandler[];
  /** Redacted request head for handlers; empty where no handler would read it. */
  readonly request: string;
  /** Sampled span of the request. */
  readonly cause?: SpanLink | undefined;
}

export interface EventEmitterOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  post(event: EmittedEvent): void;
  /** Receives the number of events dropped by the rate limit. */
  onDropped(count: number): void;
}

const noHandlers: readonly EventHandler[] = [];

/** Gateway event emitter: posts events of steps to the main thread, within a rate limit. */
export function createEventEmitter({
  settings,
  clock,
  log,
  post,
  onDropped,
}: EventEmitterOptions): PipelineServices['emitEvent'] {
  const operatorHandlers = readOperatorHandlers(settings);
  const handlersByModel = new WeakMap<Model, ReadonlyMap<string, readonly EventHandler[]>>();
  const rateLimit = createEventRateLimit(clock, dropped => {
    log.warn({ dropped }, 'event rate limit exceeded, events dropped');
    onDropped(dropped);
  });

  function findHandlers(model: Model | undefined, event: string): readonly EventHandler[] {
    if (!model || model.events.handlers.length === 0) return noHandlers;
    const known = handlersByModel.get(model) ?? groupEnabledByEvent(model.events.handlers);
    handlersByModel.set(model, known);
    return known.get(event) ?? noHandlers;
  }

  return (event, about, message, more = {}) => {
    if (!rateLimit.tryTake(about.api?.orgId ?? '')) return;
    const handlers = findHandlers(about.api?.model, event);
    const hasHandler = handlers.length > 0 || operatorHandlers.has(event);
    post({
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
      request: hasHandler && about instanceof Exchange ? encodeRequestHead(about) : '',
      cause: hasHandler && about instanceof Exchange ? about.trace?.toLink() : undefined,
    });
  };
}

/** Allowlist of request headers for handlers: none can carry a credential. */
const visibleHeaders = new Set([
  ...['accept', 'accept-encoding', 'accept-language', 'content-encoding', 'content-length', 'content-type'],
  ...['origin', 'traceparent', 'user-agent', 'x-request-id'],
]);
const maxHeaderCharacters = 1024;

/** Request head as base64, without query and body: keys and passwords travel in them. */
function encodeRequestHead({ method, path, host, headers }: Exchange): string {
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${host}`];
  for (const [name, value] of headers)
    if (visibleHeaders.has(name.toLowerCase())) lines.push(`${name}: ${value.slice(0, maxHeaderCharacters)}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`).toString('base64');
}
