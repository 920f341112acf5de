import {
  codeRowFactor,
  durationBounds,
  durationLength,
  durationRowLength,
  maxCountedApis,
  otherApi,
  statusClasses,
  type TrafficMetrics,
  toUpstreamErrorKey,
} from '#analytics/metrics-report.ts';
import type { ApiAnalytics } from './api-analytics.ts';

/** The first two rows: requests without an API, and of APIs beyond the bound. */
const firstRows = ['', otherApi];
const unknownRow = 0;
const otherRow = 1;
const initialRows = 16;

/** Request metrics of a thread, also for unrecorded requests: additions to arrays that grow with the number of APIs. */
export class RecorderMetrics {
  #calls = new Float64Array(initialRows * statusClasses.length);
  #durations = new Float64Array(initialRows * durationRowLength);
  #codes = new Map<number, number>();
  #refusals = new Map<string, number>();
  #upstreamErrors = new Map<string, number>();
  /** By id: a changed API keeps its row. */
  readonly #rows = new Map<string, number>(firstRows.map((id, row) => [id, row]));
  #newIds: string[] = [...firstRows];
  #hasCounts = false;
  #dropped = 0;
  #invalid = new Map<number, number>();

  count(api: ApiAnalytics | undefined, status: number, totalMs: number, upstreamMs: number, refusal: string): void {
    this.#hasCounts = true;
    const row = api ? this.#findRow(api) : unknownRow;
    const group = Math.min(Math.max(Math.trunc(status / 100), 1), statusClasses.length) - 1;
    this.#calls[row * statusClasses.length + group]!++;
    const code = row * codeRowFactor + status;
    this.#codes.set(code, (this.#codes.get(code) ?? 0) + 1);
    const at = row * durationRowLength;
    this.#addDuration(at, totalMs);
    if (upstreamMs > 0) this.#addDuration(at + durationLength, upstreamMs);
    this.#addDuration(at + 2 * durationLength, Math.max(0, totalMs - upstreamMs));
    if (refusal !== '') this.#refusals.set(refusal, (this.#refusals.get(refusal) ?? 0) + 1);
  }

  /** Series are bounded like those of requests: APIs beyond the bound count as one. */
  countUpstreamError(api: ApiAnalytics | undefined, reason: string): void {
    const isOther = api !== undefined && this.#findRow(api) === otherRow;
    const key = toUpstreamErrorKey(reason, isOther ? otherApi : (api?.facts.id ?? ''));
    this.#hasCounts = true;
    this.#upstreamErrors.set(key, (this.#upstreamErrors.get(key) ?? 0) + 1);
  }

  #addDuration(at: number, ms: number): void {
    const seconds = ms / 1000;
    this.#durations[at + findBucket(seconds)]!++;
    this.#durations[at + durationLength - 1]! += seconds;
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
    if (row * statusClasses.length >= this.#calls.length) {
      this.#calls = growTwofold(this.#calls);
      this.#durations = growTwofold(this.#durations);
    }
    return row;
  }

  countInvalid(status: number): void {
    this.#hasCounts = true;
    this.#invalid.set(status, (this.#invalid.get(status) ?? 0) + 1);
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
      durations: this.#durations.slice(0, this.#rows.size * durationRowLength),
      codes: this.#codes,
      refusals: this.#refusals,
      upstreamErrors: this.#upstreamErrors,
      dropped: this.#dropped,
      invalid: this.#invalid,
    };
    this.#calls.fill(0);
    this.#durations.fill(0);
    this.#codes = new Map();
    this.#refusals = new Map();
    this.#upstreamErrors = new Map();
    this.#newIds = [];
    this.#hasCounts = false;
    this.#dropped = 0;
    this.#invalid = new Map();
    return metrics;
  }
}

function growTwofold(numbers: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const grown = new Float64Array(numbers.length * 2);
  grown.set(numbers);
  return grown;
}

function findBucket(seconds: number): number {
  for (let at = 0; at < durationBounds.length; at++) if (seconds <= durationBounds[at]!) return at;
  return durationBounds.length;
}
