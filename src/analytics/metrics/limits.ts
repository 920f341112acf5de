import { counter, type MetricFamily } from './exposition.ts';

/** Metrics of the counters. */
export const limitFamilies = (evicted: number): MetricFamily[] => [
  counter(
    'gw_counters_evicted_total',
    'Counters that made room for others before their time: their limits began anew.',
    [{ value: evicted }],
  ),
];
