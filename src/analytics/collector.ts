import { every } from '#base/repeat.ts';
import { createThreadSampler } from './event-loop-lag.ts';
import { type IngestOptions, startIngest } from './ingest.ts';
import { counter, gauge, type MetricFamily } from './metrics/exposition.ts';
import { createTrafficTotals } from './metrics/totals.ts';
import { uptimeFamilies } from './metrics/uptime.ts';
import type { ThreadReport } from './metrics-report.ts';

/** Thread counts of the data plane. */
export interface ThreadCounts {
  readonly running: number;
  readonly restarts: number;
}

const stateIntervalMs = 1000;

/** Collects reports of traffic threads: batches go to ingest, metrics to the process totals. */
export function createCollector(options: IngestOptions) {
  const ingest = startIngest(options);
  const totals = createTrafficTotals(options.settings['metrics.max_apis']);
  const sampleMain = createThreadSampler(stateIntervalMs, 1);
  const sampler = every(stateIntervalMs, () => totals.setState('main', sampleMain()!), {
    onError: error => options.log.error({ err: error }, 'event loop sampling failed, retrying'),
    unref: true,
  });

  return {
    receive(thread: number, { batch, metrics, state, uptimeResults, accessLog }: ThreadReport): void {
      if (batch) ingest.addBatch(batch);
      if (uptimeResults) ingest.addUptimeResults(uptimeResults);
      if (metrics) {
        totals.add(String(thread), metrics);
        if (metrics.dropped > 0) ingest.addDropped(metrics.dropped);
      }
      if (accessLog) totals.addAccessLog(accessLog);
      if (state) totals.setState(String(thread), state);
    },
    removeThread: (thread: number) => totals.removeThread(String(thread)),
    flush: ingest.flush,
    load: () => ({
      ...totals.load(),
      recordsDropped: countDropped(ingest.totals()),
      recordsWaiting: ingest.countWaiting(),
    }),
    families({ running, restarts }: ThreadCounts): MetricFamily[] {
      const hosts = ingest.hosts();
      return [
        ...totals.families(),
        gauge('gw_threads', 'Traffic threads that run.', [{ value: running }]),
        counter('gw_thread_restarts_total', 'Traffic threads that ended and were replaced.', [{ value: restarts }]),
        ...recordFamilies(ingest.totals()),
        ...uptimeFamilies(hosts.states, hosts.totals),
      ];
    },
    async close(): Promise<void> {
      await sampler.close();
      await ingest.close();
    },
  };
}

const countDropped = ({ dropped, lost }: { readonly dropped: number; readonly lost: number }) => dropped + lost;

function recordFamilies(
  totals: Record<'records' | 'folded' | 'lost' | 'dropped' | 'unlogged', number>,
): MetricFamily[] {
  return [
    counter('gw_records_total', 'Calls that were written down.', [{ value: totals.records - totals.lost }]),
    counter('gw_records_dropped_total', 'Calls that were not, by where there was no room.', [
      { labels: { where: 'thread' }, value: totals.dropped },
      { labels: { where: 'main' }, value: totals.lost },
    ]),
    counter('gw_records_aggregated_total', 'Calls counted under the path `other`.', [{ value: totals.folded }]),
    counter('gw_requests_unlogged_total', 'Calls counted but not kept one by one.', [{ value: totals.unlogged }]),
  ];
}
