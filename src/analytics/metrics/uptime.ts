import type { HostState } from '../uptime/roll-up.ts';
import { counter, gauge, type MetricFamily } from './exposition.ts';

/** Upstream host state by the uptime checks of this process. */
export const uptimeFamilies = (
  states: readonly HostState[],
  { dropped, lost }: { readonly dropped: number; readonly lost: number },
): MetricFamily[] => [
  gauge(
    'gw_upstream_up',
    'State of a tested upstream host: 1 if it is up, 0 if it is down.',
    states.map(({ apiId, host, up }) => ({ labels: { api: apiId, host }, value: Number(up) })),
  ),
  counter(
    'gw_uptime_results_dropped_total',
    'Results of uptime tests dropped before they were stored, by full queue.',
    [
      { labels: { where: 'thread' }, value: dropped },
      { labels: { where: 'main' }, value: lost },
    ],
  ),
];
