import type { CallBatch } from './batch.ts';
import type { UptimeResults } from './uptime/uptime-result.ts';

/** Metrics reports of traffic threads: deltas since the last report, which the main thread sums up. */

/** By first digit of the status; calls without a response count as 5xx. */
export const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

/** Upper bounds in seconds; one more bucket holds the rest. */
export const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** Histograms of one API, in this order. The time of the gateway is the total without that of the upstream. */
export const durationNames = ['total', 'upstream', 'gateway'] as const;
/** Counts by bucket, then the sum in seconds. */
export const durationLength = durationBounds.length + 2;
/** Numbers of one API: its histograms one after the other. */
export const durationRowLength = durationNames.length * durationLength;

/** Factor of the row in keys of `codes`. */
export const codeRowFactor = 1000;

/** Bound of per-API metrics of a thread; further APIs are counted under `other`. */
export const maxCountedApis = 1000;
export const otherApi = 'other';

export interface TrafficMetrics {
  /** Ids of APIs new in this report; each gets the next row for the lifetime of the thread. */
  readonly apis: readonly string[];
  /** One row per API, one column per status class. */
  readonly calls: Float64Array<ArrayBuffer>;
  /** One row of `durationRowLength` numbers per API. */
  readonly durations: Float64Array<ArrayBuffer>;
  /** Responses by row times `codeRowFactor` plus status. */
  readonly codes: ReadonlyMap<number, number>;
  readonly refusals: ReadonlyMap<string, number>;
  /** Failed upstream requests by reason and API, as `reason api`; see `toUpstreamErrorKey`. */
  readonly upstreamErrors: ReadonlyMap<string, number>;
  /** Records dropped for lack of room. */
  readonly dropped: number;
  /** Requests that were refused before they became exchanges, by status. */
  readonly invalid: ReadonlyMap<number, number>;
}

/** Lines of the access log since the last report. */
export interface AccessLogCounts {
  readonly accepted: number;
  /** Dropped by a full buffer. */
  readonly dropped: number;
  /** Accepted, and lost by a failed write. */
  readonly failed: number;
}

/** Reasons have no space, ids of APIs may. */
export const toUpstreamErrorKey = (reason: string, api: string): string => `${reason} ${api}`;

export function parseUpstreamErrorKey(key: string): { readonly reason: string; readonly api: string } {
  const space = key.indexOf(' ');
  return { reason: key.slice(0, space), api: key.slice(space + 1) };
}

/** Event loop and heap of a thread. */
export interface ThreadState {
  readonly lagSeconds: number;
  readonly heapBytes: number;
  /** Event loop utilization, from 0 to 1. */
  readonly utilization: number;
}

/** Report of a traffic thread, sent a few times a second. */
export interface ThreadReport {
  readonly batch: CallBatch | undefined;
  readonly metrics: TrafficMetrics | undefined;
  readonly state: ThreadState | undefined;
  readonly accessLog?: AccessLogCounts | undefined;
  readonly uptimeResults?: UptimeResults | undefined;
}
