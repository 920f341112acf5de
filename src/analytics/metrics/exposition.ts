/** Prometheus text exposition format 0.0.4. */

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

/** Converts counts per bucket to cumulative buckets. */
export function histogram(
  name: string,
  about: string,
  bounds: readonly number[],
  buckets: ArrayLike<number>,
  sum: number,
): MetricFamily {
  let below = 0;
  const samples: MetricSample[] = [...bounds, Number.POSITIVE_INFINITY].map((bound, at) => {
    below += buckets[at]!;
    return { suffix: '_bucket', labels: { le: formatMetricValue(bound) }, value: below };
  });
  return {
    name,
    about,
    type: 'histogram',
    samples: [...samples, { suffix: '_sum', value: sum }, { suffix: '_count', value: below }],
  };
}
