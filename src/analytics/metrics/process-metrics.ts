import { type EventCounts, eventFamilies } from './events.ts';
import { gauge, type MetricFamily } from './exposition.ts';
import { limitFamilies } from './limits.ts';

type SendingCounts = Pick<EventCounts, 'delivered' | 'failed' | 'dead'>;

/** Sources of the metrics of a process. */
export interface ProcessMetricsOptions {
  readonly version: string;
  readonly health: {
    /** Health checks by name; empty text means healthy. */
    checks(): Promise<Readonly<Record<string, string>>>;
  };
  /** Without traffic threads it has no families. */
  readonly dataPlane: { metrics(): readonly MetricFamily[] };
  readonly events: { counts(): Omit<EventCounts, keyof SendingCounts> };
  readonly sending: { totals(): SendingCounts };
  /** Counters in the memory of the process. */
  readonly threads: { evictions(): number };
}

/** All families of the process. */
export const listProcessMetrics = async (options: ProcessMetricsOptions): Promise<MetricFamily[]> => [
  ...processFamilies(options.version),
  ...partFamilies(await options.health.checks()),
  ...options.dataPlane.metrics(),
  ...eventFamilies({ ...options.events.counts(), ...options.sending.totals() }),
  ...limitFamilies(options.threads.evictions()),
];

const partFamilies = (parts: Readonly<Record<string, string>>): MetricFamily[] => [
  gauge(
    'gw_component_up',
    'Health of a dependency of the process: 1 if it works, 0 if not.',
    Object.entries(parts).map(([part, fault]) => ({ labels: { part }, value: fault === '' ? 1 : 0 })),
  ),
];

function processFamilies(version: string): MetricFamily[] {
  const { user, system } = process.cpuUsage();
  return [
    gauge('gw_build_info', 'Release of the process.', [{ labels: { version }, value: 1 }]),
    gauge('process_resident_memory_bytes', 'Resident memory of the process.', [{ value: process.memoryUsage.rss() }]),
    gauge('process_start_time_seconds', 'Start time of the process.', [{ value: performance.timeOrigin / 1000 }]),
    {
      name: 'process_cpu_seconds_total',
      about: 'CPU time of the process.',
      type: 'counter',
      samples: [{ value: (user + system) / 1_000_000 }],
    },
  ];
}
