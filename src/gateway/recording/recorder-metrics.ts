import {
  durationBounds,
  maxCountedApis,
  otherApi,
  statusClasses,
  type TrafficMetrics,
} from '#analytics/metrics-report.ts';
import type { ApiAnalytics } from './api-analytics.ts';

/** The first two rows: requests without an API, and of APIs beyond the bound. */
const firstRows = ['', otherApi];
const unknownRow = 0;
const otherRow = 1;

/** Request metrics of a thread, also for unrecorded requests: additions to preallocated arrays. */
export class RecorderMetrics {
  readonly #calls = new Float64Array((maxCountedApis + firstRows.length) * statusClasses.length);
  readonly #total = new Float64Array(durationBounds.length + 1);
  readonly #upstream = new Float64Array(durationBounds.length + 1);
  #totalSum = 0;
  #upstreamSum = 0;
  #refusals = new Map<string, number>();
  /** By id: a changed API keeps its row. */
  readonly #rows = new Map<string, number>(firstRows.map((id, row) => [id, row]));
  #newIds: string[] = [...firstRows];
  #hasCounts = false;
  #dropped = 0;

  count(api: ApiAnalytics | undefined, status: number, totalMs: number, upstreamMs: number, refusal: string): void {
    this.#hasCounts = true;
    const row = api ? this.#findRow(api) : unknownRow;
    const group = Math.min(Math.max(Math.trunc(status / 100), 1), statusClasses.length) - 1;
    this.#calls[row * statusClasses.length + group]!++;
    const seconds = totalMs / 1000;
    this.#total[findBucket(seconds)]!++;
    this.#totalSum += seconds;
    if (upstreamMs > 0) {
      this.#upstream[findBucket(upstreamMs / 1000)]!++;
      this.#upstreamSum += upstreamMs / 1000;
    }
    if (refusal !== '') this.#refusals.set(refusal, (this.#refusals.get(refusal) ?? 0) + 1);
  }

  #findRow(api: ApiAnalytics): number {
    if (api.metricsRow < 0) api.metricsRow = this.#rows.get(api.facts.id) ?? this.#addRow(api.facts.id);
    return api.metricsRow;
  }

  #addRow(id: string): number {
    const row = this.#rows.size;
    if (row >= maxCountedApis + firstRows.length) return otherRow;
    this.#rows.set(id, row);
    this.#newIds.push(id);
    return row;
  }

  countDropped(): void {
    this.#hasCounts = true;
    this.#dropped++;
  }

  /** Returns and resets the metrics since the last call; undefined without any. */
  drain(): TrafficMetrics | undefined {
    if (!this.#hasCounts) return undefined;
    const metrics: TrafficMetrics = {
      apis: this.#newIds,
      calls: this.#calls.slice(0, this.#rows.size * statusClasses.length),
      total: { buckets: this.#total.slice(), sum: this.#totalSum },
      upstream: { buckets: this.#upstream.slice(), sum: this.#upstreamSum },
      refusals: this.#refusals,
      dropped: this.#dropped,
    };
    for (const counts of [this.#calls, this.#total, this.#upstream]) counts.fill(0);
    this.#totalSum = 0;
    this.#upstreamSum = 0;
    this.#refusals = new Map();
    this.#newIds = [];
    this.#hasCounts = false;
    this.#dropped = 0;
    return metrics;
  }
}

function findBucket(seconds: number): number {
  for (let at = 0; at < durationBounds.length; at++) if (seconds <= durationBounds[at]!) return at;
  return durationBounds.length;
}
