import {
  durationBounds,
  maxCountedApis,
  otherApi,
  statusClasses,
  type TrafficMetrics,
} from '#analytics/metrics-report.ts';
import type { ApiAnalytics } from './api-analytics.ts';

/** The first two rows: calls of no API, and of APIs without a row. */
const firstRows = ['', otherApi];
const unknownRow = 0;
const otherRow = 1;

/** Counts every call of a thread, recorded or not: additions to arrays that are made once. */
export class RecorderMetrics {
  readonly #calls = new Float64Array((maxCountedApis + firstRows.length) * statusClasses.length);
  readonly #total = new Float64Array(durationBounds.length + 1);
  readonly #upstream = new Float64Array(durationBounds.length + 1);
  #totalSum = 0;
  #upstreamSum = 0;
  #refusals = new Map<string, number>();
  /** By id: an API that was changed keeps its row. */
  readonly #rows = new Map<string, number>(firstRows.map((id, row) => [id, row]));
  #named: string[] = [...firstRows];
  #any = false;
  #dropped = 0;

  count(api: ApiAnalytics | undefined, status: number, totalMs: number, upstreamMs: number, refusal: string): void {
    this.#any = true;
    const row = api ? this.#rowOf(api) : unknownRow;
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

  #rowOf(api: ApiAnalytics): number {
    if (api.metricsRow < 0) api.metricsRow = this.#rows.get(api.facts.id) ?? this.#nextRow(api.facts.id);
    return api.metricsRow;
  }

  #nextRow(id: string): number {
    const row = this.#rows.size;
    if (row >= maxCountedApis + firstRows.length) return otherRow;
    this.#rows.set(id, row);
    this.#named.push(id);
    return row;
  }

  countDropped(): void {
    this.#any = true;
    this.#dropped++;
  }

  /** What was counted since the last time; undefined for nothing. */
  drain(): TrafficMetrics | undefined {
    if (!this.#any) return undefined;
    const metrics: TrafficMetrics = {
      apis: this.#named,
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
    this.#named = [];
    this.#any = false;
    this.#dropped = 0;
    return metrics;
  }
}

function findBucket(seconds: number): number {
  for (let at = 0; at < durationBounds.length; at++) if (seconds <= durationBounds[at]!) return at;
  return durationBounds.length;
}
