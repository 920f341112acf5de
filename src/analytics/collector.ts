import { createThreadSampler } from './event-loop-lag.ts';
import { type IngestOptions, startIngest } from './ingest.ts';
import { counter, gauge, type MetricFamily } from './metrics/exposition.ts';
import { createTrafficTotals } from './metrics/totals.ts';
import { uptimeFamilies } from './metrics/uptime.ts';
import type { ThreadReport } from './metrics-report.ts';

/** How traffic threads are doing, as whoever runs them knows it. */
export interface ThreadCounts {
  readonly running: number;
  readonly restarts: number;
}

const stateIntervalMs = 1000;

/** What the main thread does with the reports of traffic threads: counts go to the records, measures to the metrics. */
export function createCollector(options: IngestOptions) {
  const ingest = startIngest(options);
  const totals = createTrafficTotals();
  const sampleMain = createThreadSampler(stateIntervalMs, 1);
  const timer = setInterval(() => totals.state('main', sampleMain()!), stateIntervalMs);
  timer.unref();

  return {
    receive(thread: number, { batch, metrics: measures, state, uptimeResults: tested }: ThreadReport): void {
      if (batch) ingest.take(batch);
      if (tested) ingest.addUptimeResults(tested);
      if (measures) {
        totals.add(String(thread), measures);
        if (measures.dropped > 0) ingest.addDropped(measures.dropped);
      }
      if (state) totals.state(String(thread), state);
    },
    removeThread: (thread: number) => totals.removeThread(String(thread)),
    flush: ingest.flush,
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
      clearInterval(timer);
      await ingest.close();
    },
  };
}

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
