/**
 * Metric families of the process, the registry behind every export. `/metrics` formats them as Prometheus text
 * exposition format 0.0.4; another exporter walks the same list: `samples` of counters and gauges (name, labels,
 * value), and of histograms `histogram` (bounds, and for each labelled series the counts by bucket, not cumulative,
 * with one more than there are bounds, and the sum). Values are totals since the start of the process
 * (`process_start_time_seconds`).
 */

export interface MetricSample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
  /** Name suffix of histogram samples. */
  readonly suffix?: string;
}

export interface MetricFamily {
  readonly name: string;
  readonly about: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly MetricSample[];
  /** Of a histogram: what its samples are made of. */
  readonly histogram?: Histogram;
}

export interface Histogram {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[];
  readonly series: readonly HistogramSeries[];
}

export interface HistogramSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** Counts by bucket; the last is that of values above all bounds. */
  readonly counts: ArrayLike<number>;
  readonly sum: number;
}

export const expositionContentType = 'text/plain; version=0.0.4; charset=utf-8';

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };
const quoteLabel = (text: string) => `"${text.replaceAll(/[\\"\n]/g, character => escapes[character]!)}"`;
const formatMetricValue = (value: number) => {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
};

function formatSample(name: string, { labels = {}, value, suffix = '' }: MetricSample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}=${quoteLabel(text)}`);
  return `${name}${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${formatMetricValue(value)}`;
}

/** Families without samples are left out. */
export function formatExposition(families: readonly MetricFamily[]): string {
  const parts = families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, about, type, samples }) =>
      [`# HELP ${name} ${about}`, `# TYPE ${name} ${type}`, ...samples.map(sample => formatSample(name, sample))].join(
        '\n',
      ),
    );
  return `${parts.join('\n')}\n`;
}

export const counter = (name: string, about: string, samples: readonly MetricSample[]): MetricFamily => ({
  name,
  about,
  type: 'counter',
  samples,
});

export const gauge = (name: string, about: string, samples: readonly MetricSample[]): MetricFamily => ({
  name,
  about,
  type: 'gauge',
  samples,
});

export const histogram = (
  name: string,
  about: string,
  bounds: readonly number[],
  series: readonly HistogramSeries[],
): MetricFamily => ({
  name,
  about,
  type: 'histogram',
  samples: series.flatMap(it => histogramSamples(bounds, it)),
  histogram: { bounds, series },
});

/** Converts counts per bucket to cumulative buckets. */
function histogramSamples(bounds: readonly number[], { labels, counts, sum }: HistogramSeries): MetricSample[] {
  let below = 0;
  const buckets: MetricSample[] = [...bounds, Number.POSITIVE_INFINITY].map((bound, at) => {
    below += counts[at]!;
    return { suffix: '_bucket', labels: { ...labels, le: formatMetricValue(bound) }, value: below };
  });
  return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: below }];
}
