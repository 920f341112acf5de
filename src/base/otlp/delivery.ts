import { describeError } from '../describe-error.ts';
import type { OutboundClient } from '../http-client/client.ts';
import type { OutboundResponse } from '../http-client/response.ts';
import type { Log } from '../log.ts';
import { type RejectedItems, readRejection } from './partial-success.ts';
import { readRetryAfterMs } from './retry-after.ts';
import { type OtlpProtocol, otlpContentTypes } from './span.ts';

export interface DeliveryOptions {
  /** Kind of data, for log lines: `traces`, `metrics`. */
  readonly signal: string;
  readonly endpoint: string;
  readonly protocol: OtlpProtocol;
  readonly compresses: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly outbound: Pick<OutboundClient, 'fetch'>;
  readonly log: Log;
  /** First pause before a retry; doubled each time. */
  readonly retryIntervalMs?: number | undefined;
  /** Attempts of one body. */
  readonly maxAttempts?: number | undefined;
}

const defaultRetryIntervalMs = 1000;
const maxRetryIntervalMs = 30_000;
const maxRetryAfterMs = 300_000;
const defaultMaxAttempts = 8;
const maxResponseBytes = 65_536;
/** Retryable responses of OTLP/HTTP; any other failure status is final. */
const retryableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Outcome of one attempt: accepted, a final failure, or a retry after a pause. */
type Attempt =
  | { readonly kind: 'accepted'; readonly rejection: RejectedItems }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs: number | undefined };

/**
 * Delivers one body to the collector: retries with exponential backoff, or after `Retry-After`, until `stop` aborts.
 * Resolves with what the collector rejected, or with undefined where it did not accept the body.
 */
export async function deliverBody(
  options: DeliveryOptions,
  body: Buffer,
  stop: AbortSignal,
): Promise<RejectedItems | undefined> {
  const { signal, log, retryIntervalMs = defaultRetryIntervalMs, maxAttempts = defaultMaxAttempts } = options;
  for (let attempt = 1; ; attempt++) {
    const result = await attemptDelivery(options, body, stop);
    if (result.kind === 'accepted') return result.rejection;
    const isLast = result.kind === 'refused' || attempt >= maxAttempts || stop.aborted;
    if (isLast) {
      log.warn({ signal, attempts: attempt, reason: result.reason }, 'telemetry not exported');
      return undefined;
    }
    await pauseUntil(stop, result.afterMs ?? computeBackoffMs(retryIntervalMs, attempt));
  }
}

async function attemptDelivery(options: DeliveryOptions, body: Buffer, stop: AbortSignal): Promise<Attempt> {
  let response: OutboundResponse;
  try {
    response = await send(options, body, stop);
  } catch (error) {
    return { kind: 'retry', reason: describeError(error), afterMs: undefined };
  }
  const { status, headers } = response;
  if (status >= 200 && status < 300)
    return { kind: 'accepted', rejection: readRejection(options.protocol, response.body) };
  const reason = `the collector responded with status ${status}`;
  if (!retryableStatuses.has(status)) return { kind: 'refused', reason };
  return { kind: 'retry', reason, afterMs: readPauseMs(headers['retry-after']) };
}

const send = (options: DeliveryOptions, body: Buffer, signal: AbortSignal): Promise<OutboundResponse> =>
  options.outbound.fetch({
    url: options.endpoint,
    method: 'POST',
    headers: {
      ...Object.fromEntries(Object.entries(options.headers).map(([name, value]) => [name.toLowerCase(), value])),
      'content-type': otlpContentTypes[options.protocol],
      ...(options.compresses ? { 'content-encoding': 'gzip' } : {}),
    },
    body,
    audience: 'operator',
    timeoutMs: options.timeoutMs,
    maxBytes: maxResponseBytes,
    signal,
  });

function readPauseMs(value: string | string[] | undefined): number | undefined {
  const pauseMs = typeof value === 'string' ? readRetryAfterMs(value, Date.now()) : undefined;
  return pauseMs === undefined ? undefined : Math.min(pauseMs, maxRetryAfterMs);
}

/** Exponential backoff with jitter, so that processes that lost one collector do not return together. */
const computeBackoffMs = (intervalMs: number, attempt: number): number =>
  Math.min(maxRetryIntervalMs, intervalMs * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);

/** Pause, cut short when `stop` aborts. */
function pauseUntil(stop: AbortSignal, timeoutMs: number): Promise<void> {
  if (stop.aborted) return Promise.resolve();
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer);
      stop.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, timeoutMs).unref();
    stop.addEventListener('abort', end, { once: true });
  });
}
