import { z } from 'zod';
import { formatIsoTime, zeroTime } from '#base/clock.ts';

/** `waiting` for its turn or for another attempt; `delivered`; or `dead`: given up, until somebody retries it. */
export const deliveryStates = ['waiting', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** What handlers that are written into a definition, or into the settings, have in place of the id of a stored hook. */
export const inlinePrefix = 'inline-';

/** One call that was made, or could not be. */
export interface Attempt {
  readonly atMs: number;
  readonly ms: number;
  /** 0: there was no answer. */
  readonly status: number;
  readonly error: string;
}

/** Where a handler without a stored hook is called. */
export interface InlineTarget {
  readonly method: string;
  readonly url: string;
  /** As JSON, sealed: they often carry a credential. */
  readonly sealedHeaders: string;
  /** In place of the usual one. */
  readonly timeoutMs?: number;
}

export interface DeliveryBody {
  /** Absent for a stored hook, which says so itself at the time of the call. */
  readonly inline?: InlineTarget;
  readonly name: string;
  /** What happened, as it is sent; empty where nothing could be made of it. */
  readonly payload: string;
  readonly contentType: string;
  readonly log: readonly Attempt[];
}

/** One call of a webhook about one event. */
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
  hook_id: z.string().describe('The id of a stored webhook, or one that begins with inline-'),
  hook_name: z.string(),
  api_id: z.string(),
  event: z.string(),
  state: z.enum(deliveryStates),
  attempts: z.int(),
  status: z.int().describe('Of the last answer; 0 where there was none'),
  error: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type DeliverySummary = z.input<typeof DeliverySummary>;

export const DeliveryDetail = DeliverySummary.extend({
  target: z.string().describe('Method and address, of a handler without a stored webhook'),
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
