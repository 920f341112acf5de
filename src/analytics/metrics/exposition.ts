/** Numbers in the text form that Prometheus and everything like it read. */

export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
  /** Put behind the name: the parts of a histogram have one. */
  readonly suffix?: string;
}

export interface Family {
  readonly name: string;
  readonly about: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly Sample[];
}

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };
const quoted = (text: string) => `"${text.replaceAll(/[\\"\n]/g, character => escapes[character]!)}"`;
const shown = (value: number) => {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
};

function line(name: string, { labels = {}, value, suffix = '' }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}=${quoted(text)}`);
  return `${name}${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${shown(value)}`;
}

/** Families without samples are left out. */
export function exposition(families: readonly Family[]): string {
  const parts = families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, about, type, samples }) =>
      [`# HELP ${name} ${about}`, `# TYPE ${name} ${type}`, ...samples.map(sample => line(name, sample))].join('\n'),
    );
  return `${parts.join('\n')}\n`;
}

export const counter = (name: string, about: string, samples: readonly Sample[]): Family => ({
  name,
  about,
  type: 'counter',
  samples,
});

export const gauge = (name: string, about: string, samples: readonly Sample[]): Family => ({
  name,
  about,
  type: 'gauge',
  samples,
});

/** From the number in each bucket to the numbers up to each bound. */
export function histogram(
  name: string,
  about: string,
  bounds: readonly number[],
  buckets: ArrayLike<number>,
  sum: number,
): Family {
  let below = 0;
  const samples: Sample[] = [...bounds, Number.POSITIVE_INFINITY].map((bound, at) => {
    below += buckets[at]!;
    return { suffix: '_bucket', labels: { le: shown(bound) }, value: below };
  });
  return {
    name,
    about,
    type: 'histogram',
    samples: [...samples, { suffix: '_sum', value: sum }, { suffix: '_count', value: below }],
  };
}
