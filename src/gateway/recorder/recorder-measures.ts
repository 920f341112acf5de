import { durationBounds, type Measures, statusClasses } from '#analytics/measures.ts';
import type { RecordedApi } from './recorded-api.ts';

/** APIs counted by themselves between two reports; the rest are counted together. */
const apisCounted = 1000;
const unknownApi = 0;
const otherApi = 1;

/** Counts every call of a thread, recorded or not: additions to arrays that are made once. */
export class RecorderMeasures {
  readonly #calls = new Float64Array((apisCounted + 2) * statusClasses.length);
  readonly #total = new Float64Array(durationBounds.length + 1);
  readonly #upstream = new Float64Array(durationBounds.length + 1);
  #totalSum = 0;
  #upstreamSum = 0;
  #refusals = new Map<string, number>();
  #apis: string[] = ['', 'other'];
  #report = 0;
  #any = false;
  #dropped = 0;

  count(api: RecordedApi | undefined, status: number, totalMs: number, upstreamMs: number, refusal: string): void {
    this.#any = true;
    const row = api ? this.#placeOf(api) : unknownApi;
    const group = Math.min(Math.max(Math.trunc(status / 100), 1), statusClasses.length) - 1;
    this.#calls[row * statusClasses.length + group]!++;
    const seconds = totalMs / 1000;
    this.#total[bucketOf(seconds)]!++;
    this.#totalSum += seconds;
    if (upstreamMs > 0) {
      this.#upstream[bucketOf(upstreamMs / 1000)]!++;
      this.#upstreamSum += upstreamMs / 1000;
    }
    if (refusal !== '') this.#refusals.set(refusal, (this.#refusals.get(refusal) ?? 0) + 1);
  }

  #placeOf(api: RecordedApi): number {
    if (api.measure === this.#report) return api.measurePlace;
    api.measure = this.#report;
    api.measurePlace = this.#apis.length < apisCounted + 2 ? this.#apis.push(api.facts.id) - 1 : otherApi;
    return api.measurePlace;
  }

  drop(): void {
    this.#any = true;
    this.#dropped++;
  }

  /** What was counted since the last time; undefined for nothing. */
  take(): Measures | undefined {
    if (!this.#any) return undefined;
    const taken: Measures = {
      apis: this.#apis,
      calls: this.#calls.slice(0, this.#apis.length * statusClasses.length),
      total: { buckets: this.#total.slice(), sum: this.#totalSum },
      upstream: { buckets: this.#upstream.slice(), sum: this.#upstreamSum },
      refusals: this.#refusals,
      dropped: this.#dropped,
    };
    for (const counts of [this.#calls, this.#total, this.#upstream]) counts.fill(0);
    this.#totalSum = 0;
    this.#upstreamSum = 0;
    this.#refusals = new Map();
    this.#apis = ['', 'other'];
    this.#report++;
    this.#any = false;
    this.#dropped = 0;
    return taken;
  }
}

function bucketOf(seconds: number): number {
  for (let at = 0; at < durationBounds.length; at++) if (seconds <= durationBounds[at]!) return at;
  return durationBounds.length;
}
