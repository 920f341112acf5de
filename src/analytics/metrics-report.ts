import type { CallBatch } from './batch.ts';
import type { UptimeResults } from './uptime/tested-host.ts';

/** What a traffic thread counts of its calls. It sends what was added since it last did; the main thread adds it up. */

/** By the first digit of the status; calls that got no answer count as 5. */
export const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

/** Upper bounds in seconds; one more bucket holds the rest. */
export const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

export interface Durations {
  readonly buckets: Float64Array<ArrayBuffer>;
  readonly sum: number;
}

/** APIs with numbers of their own; calls of the rest are counted under `other`. */
export const maxCountedApis = 1000;
export const otherApi = 'other';

export interface TrafficMetrics {
  /** APIs the thread counts for the first time, by id: each has the next row, as long as the thread lives. */
  readonly apis: readonly string[];
  /** A row for each API, with one number per class of status. */
  readonly calls: Float64Array<ArrayBuffer>;
  readonly total: Durations;
  readonly upstream: Durations;
  readonly refusals: ReadonlyMap<string, number>;
  /** Records that found no room. */
  readonly dropped: number;
}

/** How a thread is, beside what it counted. */
export interface ThreadState {
  readonly lagSeconds: number;
  readonly heapBytes: number;
  /** The part of the time in which it was busy, from 0 to 1. */
  readonly utilization: number;
}

/** What a traffic thread sends, a few times a second. */
export interface ThreadReport {
  readonly batch: CallBatch | undefined;
  readonly metrics: TrafficMetrics | undefined;
  readonly state: ThreadState | undefined;
  readonly uptimeResults?: UptimeResults | undefined;
}
