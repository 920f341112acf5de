import type { HostState } from '../uptime/roll-up.ts';
import { counter, gauge, type MetricFamily } from './exposition.ts';

/** Upstream host state by the uptime checks of this process. */
export const uptimeFamilies = (
  states: readonly HostState[],
  { dropped, lost }: { readonly dropped: number; readonly lost: number },
): MetricFamily[] => [
  gauge(
    'gw_upstream_up',
    'Whether an upstream host that is tested is up.',
    states.map(({ apiId, host, up }) => ({ labels: { api: apiId, host }, value: Number(up) })),
  ),
  counter('gw_uptime_results_dropped_total', 'Results of tests that were not kept, by where there was no room.', [
    { labels: { where: 'thread' }, value: dropped },
    { labels: { where: 'main' }, value: lost },
  ]),
];
