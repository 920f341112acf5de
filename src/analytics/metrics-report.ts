import type { CallBatch } from './batch.ts';
import type { UptimeResults } from './uptime/uptime-result.ts';

/** Metrics reports of traffic threads: deltas since the last report, which the main thread sums up. */

/** By first digit of the status; calls without a response count as 5xx. */
export const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

/** Upper bounds in seconds; one more bucket holds the rest. */
export const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

export interface Durations {
  readonly buckets: Float64Array<ArrayBuffer>;
  readonly sum: number;
}

/** Bound of per-API metrics; further APIs are counted under `other`. */
export const maxCountedApis = 1000;
export const otherApi = 'other';

export interface TrafficMetrics {
  /** Ids of APIs new in this report; each gets the next row for the lifetime of the thread. */
  readonly apis: readonly string[];
  /** One row per API, one column per status class. */
  readonly calls: Float64Array<ArrayBuffer>;
  readonly total: Durations;
  readonly upstream: Durations;
  readonly refusals: ReadonlyMap<string, number>;
  /** Records dropped for lack of room. */
  readonly dropped: number;
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
  readonly uptimeResults?: UptimeResults | undefined;
}
