import type { OtlpAttributes } from './span.ts';

/** OTLP 1.x `AggregationTemporality`. */
export const temporalities = { delta: 1, cumulative: 2 } as const;
export type Temporality = keyof typeof temporalities;

interface MetricPoint {
  readonly attributes: OtlpAttributes;
  /** Start of the interval that the value covers, in milliseconds since 1970; 0 for a gauge. */
  readonly startMs: number;
  readonly atMs: number;
}

export interface NumberPoint extends MetricPoint {
  readonly value: number;
}

export interface HistogramPoint extends MetricPoint {
  readonly count: number;
  readonly sum: number;
  /** One more than bounds. */
  readonly buckets: readonly number[];
  readonly bounds: readonly number[];
}

interface MetricHead {
  readonly name: string;
  readonly description: string;
  /** UCUM unit; empty for a count. */
  readonly unit: string;
}

export type OtlpMetric = MetricHead &
  (
    | { readonly kind: 'gauge'; readonly points: readonly NumberPoint[] }
    | { readonly kind: 'sum'; readonly temporality: Temporality; readonly points: readonly NumberPoint[] }
    | { readonly kind: 'histogram'; readonly temporality: Temporality; readonly points: readonly HistogramPoint[] }
  );
