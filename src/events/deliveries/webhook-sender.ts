import { setImmediate } from 'node:timers/promises';
import type { Log } from '#base/log.ts';
import type { OtlpSpan } from '#base/otlp/span.ts';
import { formatTraceparent } from '#base/otlp/trace-ids.ts';
import { Problem } from '#base/problems.ts';
import { every, type RepeatedWork } from '#base/repeat.ts';
import type { Vault } from '#base/vault.ts';
import { headersPurpose } from '../delivery-builder.ts';
import type { HookStore } from '../hooks/store.ts';
import { buildDeliverySpan, startAttemptTrace } from './delivery-span.ts';
import type { Lane, LaneStore } from './lane-store.ts';
import type { Attempt, Delivery, DeliveryState } from './schema.ts';
import {
  maxWebhookTimeoutMs,
  sendWebhook,
  toStatusError,
  type WebhookCallServices,
  type WebhookTarget,
} from './send-webhook.ts';
import type { DeliveryStore } from './store.ts';

export interface WebhookSenderOptions extends WebhookCallServices {
  readonly deliveries: DeliveryStore;
  readonly lanes: LaneStore;
  readonly hooks: Pick<HookStore, 'get'>;
  readonly vault: Pick<Vault, 'open'>;
  readonly log: Log;
  /** Exports the span of an attempt; undefined while traces are not exported. */
  readonly spanSink: { add: ((span: OtlpSpan) => void) | undefined };
}

/** Hooks called concurrently by this process: a slow one delays only itself. */
const maxConcurrentLanes = 16;
/** Calls for one hook before the lane is released, for fairness. */
const maxCallsPerTurn = 50;
/** Longer than any call: a lane with an expired lease belongs to a crashed process. */
const leaseMs = maxWebhookTimeoutMs + 20_000;
/** Finds deliveries that another process added or left behind. */
const pollIntervalMs = 1000;
const maxBackoffMs = 3_600_000;
/** Calls in flight may finish within this time on shutdown. */
const shutdownGraceMs = 2000;
const pruneIntervalMs = 60_000;
const dayMs = 86_400_000;

type AttemptOutcome = Attempt & { readonly isFinal?: boolean };

export type WebhookSender = ReturnType<typeof startWebhookSender>;

/** State that the loops of a sender share. */
interface SenderState {
  isClosing: boolean;
  /** Ends the calls in flight. */
  readonly stopping: AbortController;
  readonly totals: { delivered: number; failed: number; dead: number };
  /** Organisations with new results: only they can exceed the bound of the delivery log. */
  readonly changedOrgIds: Set<string>;
}

/** Sends waiting deliveries while the process runs. */
export function startWebhookSender(options: WebhookSenderOptions) {
  const { lanes, clock, log } = options;
  const active = new Set<Promise<void>>();
  const totals = { delivered: 0, failed: 0, dead: 0 };
  const state: SenderState = { isClosing: false, stopping: new AbortController(), totals, changedOrgIds: new Set() };
  let isQueueFailing = false;

  /** Logs once until the queue works again. */
  function onError({ message: reason }: Error): void {
    if (!isQueueFailing) log.warn({ reason }, 'delivery queue unavailable, retrying');
    isQueueFailing = true;
  }

  async function claimLanes(): Promise<void> {
    const room = maxConcurrentLanes - active.size;
    if (room <= 0) return;
    const claimed = await lanes.claim(clock.now(), leaseMs, room);
    isQueueFailing = false;
    for (const lane of claimed) {
      const draining: Promise<void> = drain(lane).finally(() => {
        active.delete(draining);
        wake();
      });
      active.add(draining);
    }
  }

  async function drain(lane: Lane): Promise<void> {
    try {
      const backoffMs = await drainLane(options, state, lane);
      if (backoffMs > 0) setTimeout(wake, backoffMs).unref();
    } catch (error) {
      onError(error as Error);
    }
  }

  const polls = every(pollIntervalMs, claimLanes, { onError });
  const wake = () => void polls.wake();
  const prunes = startPruning(options, state, onError);
  void lanes.releaseOwn().then(wake, onError);

  return {
    wake,
    totals: () => ({ ...totals, active: active.size }),
    async close(): Promise<void> {
      state.isClosing = true;
      prunes.stop();
      const grace = setTimeout(() => state.stopping.abort(new Error('the gateway is stopping')), shutdownGraceMs);
      await polls.close();
      await Promise.all(active);
      clearTimeout(grace);
      await prunes.close();
    },
  };
}

/** Sends the deliveries of one hook in order, until one fails; returns the backoff of the hook. */
async function drainLane(options: WebhookSenderOptions, state: SenderState, lane: Lane): Promise<number> {
  const { deliveries, lanes, clock } = options;
  const { signal } = state.stopping;
  for (let calls = 0; calls < maxCallsPerTurn && !state.isClosing; calls++) {
    if (calls > 0 && !(await lanes.renew(lane, clock.now(), leaseMs))) return 0;
    const delivery = await deliveries.next(lane.orgId, lane.hook);
    if (!delivery) {
      await lanes.closeIfEmpty(lane);
      return 0;
    }
    const outcome = await sendAttempt(options, delivery, signal);
    // Aborted: it may have arrived, so it is sent again under the same id.
    if (signal.aborted && outcome.error !== '') break;
    const { state: result, backoffMs } = await recordAttempt(options, delivery, outcome);
    state.totals[result === 'waiting' ? 'failed' : result]++;
    state.changedOrgIds.add(delivery.orgId);
    if (backoffMs > 0) {
      await lanes.release(lane, clock.now() + backoffMs);
      return backoffMs;
    }
  }
  await lanes.release(lane, clock.now());
  return 0;
}

/** Retention of the delivery log: of all organisations at the start, then of those with new results. */
function startPruning(
  { deliveries, clock, settings }: WebhookSenderOptions,
  state: SenderState,
  onError: (error: Error) => void,
): RepeatedWork {
  let isFirstRun = true;
  const pruneBatch = (orgIds?: ReadonlySet<string>) => {
    const before = clock.now() - settings['events.retention_days'] * dayMs;
    return deliveries.prune(before, settings['events.max_log_rows'], clock.now(), orgIds);
  };
  const prune = async () => {
    const orgIds = isFirstRun ? undefined : new Set(state.changedOrgIds);
    isFirstRun = false;
    if (orgIds) state.changedOrgIds.clear();
    // Yields between batches, so that other writers get their turn.
    while ((await pruneBatch(orgIds)) > 0 && !state.isClosing) await setImmediate();
  };
  return every(pruneIntervalMs, prune, { onError, runsAtStart: true });
}

/** Records the attempt; returns the new state, and the backoff of the hook. */
async function recordAttempt(
  { deliveries, clock, log, settings }: WebhookSenderOptions,
  delivery: Delivery,
  { isFinal = false, ...result }: AttemptOutcome,
): Promise<{ state: DeliveryState; backoffMs: number }> {
  const maxAttempts = settings['events.max_attempts'];
  const attempts = delivery.attempts + 1;
  const isOver = isFinal || attempts >= maxAttempts;
  const state = result.error === '' ? 'delivered' : isOver ? 'dead' : 'waiting';
  const attemptLog = [...delivery.log, result].slice(-maxAttempts);
  await deliveries.recordAttempt(delivery, { state, attempts, status: result.status, log: attemptLog }, clock.now());
  if (state === 'dead')
    log.warn(
      { delivery: delivery.publicId, hook: delivery.hook, reason: result.error },
      'webhook delivery failed, moved to dead letters',
    );
  const backoffMs = Math.min(settings['events.retry_interval_ms'] * 2 ** (attempts - 1), maxBackoffMs);
  return { state, backoffMs: state === 'waiting' ? backoffMs : 0 };
}

async function sendAttempt(
  options: WebhookSenderOptions,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const { clock, log } = options;
  const atMs = clock.now();
  const sinceStart = () => ({ atMs, ms: clock.now() - atMs });
  try {
    const target = await findTarget(options, delivery);
    if (!target) return { ...sinceStart(), status: 0, error: 'the webhook was deleted', isFinal: true };
    const { orgId, event, publicId: deliveryId, payload, contentType, inline } = delivery;
    const call = { target, orgId, event, deliveryId, payload, contentType, timeoutMs: inline?.timeoutMs, signal };
    return await traceAttempt(options, delivery, target, async extraHeaders => {
      const { status } = await sendWebhook(options, { ...call, extraHeaders });
      return { ...sinceStart(), status, error: toStatusError(status) };
    });
  } catch (error) {
    if (!(error instanceof Problem) && !signal.aborted) log.error({ err: error }, 'webhook call failed unexpectedly');
    return { ...sinceStart(), status: 0, error: (error as Error).message };
  }
}

/** Runs an attempt; its span is exported where a sampled trace caused the delivery, also when it fails. */
async function traceAttempt(
  { spanSink, clock }: WebhookSenderOptions,
  delivery: Delivery,
  target: WebhookTarget,
  run: (extraHeaders: Readonly<Record<string, string>>) => Promise<AttemptOutcome>,
): Promise<AttemptOutcome> {
  const trace = spanSink.add && startAttemptTrace(delivery);
  if (!trace) return run({});
  const atMs = clock.now();
  const finish = (attempt: Attempt) => spanSink.add?.(buildDeliverySpan(trace, delivery, target, attempt));
  try {
    const outcome = await run({ traceparent: formatTraceparent(trace.traceId, trace.spanId, true) });
    finish(outcome);
    return outcome;
  } catch (error) {
    finish({ atMs, ms: clock.now() - atMs, status: 0, error: (error as Error).message });
    throw error;
  }
}

/** Resolves a stored hook at the time of the call. */
async function findTarget(
  { hooks, vault }: WebhookSenderOptions,
  { inline, orgId, hook }: Delivery,
): Promise<WebhookTarget | undefined> {
  if (inline) {
    const headers = JSON.parse(vault.open(inline.sealedHeaders, headersPurpose)) as Record<string, string>;
    return { method: inline.method, url: inline.url, headers, secret: hook };
  }
  const stored = await hooks.get(orgId, hook);
  if (!stored) return undefined;
  return { method: stored.method, url: stored.target_path, headers: stored.header_map, secret: stored.id };
}
