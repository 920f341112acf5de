import type { HistogramPoint, NumberPoint, OtlpMetric, Temporality } from '#base/otlp/metric.ts';
import type { HistogramSeries, MetricFamily } from './exposition.ts';

/** Converts the families of the exposition, time after time. */
export type MetricConverter = (families: readonly MetricFamily[], atMs: number) => OtlpMetric[];

/**
 * Cumulative values count from the start of the process. Delta values count from the previous conversion, whose values
 * are stored by series; a series that is no longer there is removed with them.
 */
export function createMetricConverter(temporality: Temporality, startedAtMs: number): MetricConverter {
  let previous = new Map<string, readonly number[]>();
  let previousAtMs = startedAtMs;

  return (families, atMs) => {
    const current = new Map<string, readonly number[]>();
    const startMs = temporality === 'delta' ? previousAtMs : startedAtMs;
    /** Values since `startMs`; those of a counter that started again count from zero. */
    const subtract = (series: string, values: readonly number[]): readonly number[] => {
      if (temporality === 'cumulative') return values;
      current.set(series, values);
      const before = previous.get(series);
      if (!before || values.some((value, at) => value < before[at]!)) return values;
      return values.map((value, at) => value - before[at]!);
    };
    const metrics = families.flatMap(family => toMetric(family, { temporality, startMs, atMs, subtract }));
    previous = current;
    previousAtMs = atMs;
    return metrics;
  };
}

interface Conversion {
  readonly temporality: Temporality;
  readonly startMs: number;
  readonly atMs: number;
  readonly subtract: (series: string, values: readonly number[]) => readonly number[];
}

function toMetric(family: MetricFamily, conversion: Conversion): OtlpMetric[] {
  const { name, about, type } = family;
  const { temporality, startMs, atMs, subtract } = conversion;
  const head = { name, description: about, unit: findUnit(name) };
  if (family.histogram) {
    const { bounds, series } = family.histogram;
    const points = series.map(it => toHistogramPoint(name, bounds, it, conversion));
    return points.length === 0 ? [] : [{ ...head, kind: 'histogram', temporality, points }];
  }
  const points = family.samples.flatMap(({ labels = {}, value }): NumberPoint[] => {
    if (!Number.isFinite(value)) return [];
    const attributes = toLabelAttributes(labels);
    if (type === 'gauge') return [{ attributes, startMs: 0, atMs, value }];
    return [{ attributes, startMs, atMs, value: subtract(toSeries(name, labels), [value])[0]! }];
  });
  if (points.length === 0) return [];
  return [type === 'gauge' ? { ...head, kind: 'gauge', points } : { ...head, kind: 'sum', temporality, points }];
}

function toHistogramPoint(
  name: string,
  bounds: readonly number[],
  { labels, counts: totals, sum }: HistogramSeries,
  { startMs, atMs, subtract }: Conversion,
): HistogramPoint {
  const values = subtract(toSeries(name, labels), [...Array.from(totals), sum]);
  const counts = values.slice(0, -1);
  return {
    attributes: toLabelAttributes(labels),
    startMs,
    atMs,
    count: counts.reduce((total, count) => total + count, 0),
    sum: values.at(-1)!,
    buckets: counts,
    bounds,
  };
}

const toSeries = (name: string, labels: Readonly<Record<string, string>>): string =>
  JSON.stringify([name, ...Object.entries(labels).flat()]);

const toLabelAttributes = (labels: Readonly<Record<string, string>>) => Object.entries(labels).flat();

/** UCUM units of the suffixes that Prometheus names have. */
function findUnit(name: string): string {
  const base = name.replace(/_total$/, '');
  if (base.endsWith('_seconds')) return 's';
  return base.endsWith('_bytes') ? 'By' : '';
}
