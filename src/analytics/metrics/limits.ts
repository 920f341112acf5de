import { counter, type MetricFamily } from './exposition.ts';

/** Metrics of the counters. */
export const limitFamilies = (evicted: number): MetricFamily[] => [
  counter('gw_counters_evicted_total', 'Counters evicted before their expiry; their limits started again from zero.', [
    { value: evicted },
  ]),
];
