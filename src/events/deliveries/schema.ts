import { z } from 'zod';
import { formatIsoTime, zeroTime } from '#base/clock.ts';
import type { SpanLink } from '#base/otlp/span.ts';

/** `waiting` in the queue or for a retry; `delivered`; or `dead` (dead letter), until it is retried by an operation. */
export const deliveryStates = ['waiting', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** Prefix of the ids of inline handlers, which have no stored hook: those of definitions and of the settings. */
export const inlinePrefix = 'inline-';

/** Attempt of a delivery. */
export interface Attempt {
  readonly atMs: number;
  readonly ms: number;
  /** 0 without a response. */
  readonly status: number;
  readonly error: string;
}

/** Target of an inline handler. */
export interface InlineTarget {
  readonly method: string;
  readonly url: string;
  /** As JSON, sealed: they often carry a credential. */
  readonly sealedHeaders: string;
  /** Overrides `events.timeout_ms`. */
  readonly timeoutMs?: number;
}

export interface DeliveryBody {
  /** Absent for a stored hook, which is resolved at the time of the call. */
  readonly inline?: InlineTarget;
  readonly name: string;
  /** Request body; empty where it could not be rendered. */
  readonly payload: string;
  readonly contentType: string;
  readonly log: readonly Attempt[];
  /** Span of the request that caused the event: attempts have spans that link to it. */
  readonly cause?: SpanLink | undefined;
}

/** One webhook call for one event. */
export interface Delivery extends DeliveryBody {
  readonly id: number;
  readonly publicId: string;
  readonly orgId: string;
  readonly hook: string;
  readonly apiId: string;
  readonly event: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly status: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

const attemptDetail = z.object({ at: z.string(), duration_ms: z.int(), status: z.int(), error: z.string() });

export const DeliverySummary = z.object({
  id: z.string().describe('Sent with every attempt as X-Gw-Delivery'),
  hook_id: z.string().describe('Id of a stored webhook, or one with the prefix inline-'),
  hook_name: z.string(),
  api_id: z.string(),
  event: z.string(),
  state: z.enum(deliveryStates),
  attempts: z.int(),
  status: z.int().describe('Status of the last response; 0 without one'),
  duration_ms: z.int().describe('Milliseconds of the last attempt; 0 without one'),
  error: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type DeliverySummary = z.input<typeof DeliverySummary>;

export const DeliveryDetail = DeliverySummary.extend({
  target: z.string().describe('Method and URL of a handler without a stored webhook'),
  content_type: z.string(),
  body: z.string(),
  log: z.array(attemptDetail),
});
export type DeliveryDetail = z.input<typeof DeliveryDetail>;

const time = (ms: number) => (ms > 0 ? formatIsoTime(ms) : zeroTime);

export const toDeliverySummary = (it: Delivery): DeliverySummary => ({
  id: it.publicId,
  hook_id: it.hook,
  hook_name: it.name,
  api_id: it.apiId,
  event: it.event,
  state: it.state,
  attempts: it.attempts,
  status: it.status,
  duration_ms: it.log.at(-1)?.ms ?? 0,
  error: it.state === 'delivered' ? '' : (it.log.at(-1)?.error ?? ''),
  created_at: time(it.createdAtMs),
  updated_at: time(it.updatedAtMs),
});

export const toDeliveryDetail = (it: Delivery): DeliveryDetail => ({
  ...toDeliverySummary(it),
  target: it.inline ? `${it.inline.method} ${it.inline.url}` : '',
  content_type: it.contentType,
  body: it.payload,
  log: it.log.map(({ atMs, ms, status, error }) => ({ at: time(atMs), duration_ms: ms, status, error })),
});
