import { threadState } from './event-loop-lag.ts';
import { type RecordingOptions, startRecording } from './ingest.ts';
import { counter, type Family, gauge } from './metrics/exposition.ts';
import { trafficTotals } from './metrics/totals.ts';
import { uptimeFamilies } from './metrics/uptime.ts';
import type { Report } from './metrics-report.ts';

/** How traffic threads are doing, as whoever runs them knows it. */
export interface ThreadCounts {
  readonly running: number;
  readonly restarts: number;
}

const stateEveryMs = 1000;

/** What the main thread does with the reports of traffic threads: counts go to the records, measures to the metrics. */
export function recordTraffic(options: RecordingOptions) {
  const recording = startRecording(options);
  const totals = trafficTotals();
  const mainState = threadState(stateEveryMs, 1);
  const timer = setInterval(() => totals.state('main', mainState()!), stateEveryMs);
  timer.unref();

  return {
    take(thread: number, { batch, measures, state, tested }: Report): void {
      if (batch) recording.take(batch);
      if (tested) recording.takeTested(tested);
      if (measures) {
        totals.add(String(thread), measures);
        if (measures.dropped > 0) recording.drop(measures.dropped);
      }
      if (state) totals.state(String(thread), state);
    },
    threadEnded: (thread: number) => totals.ended(String(thread)),
    flush: recording.flush,
    families({ running, restarts }: ThreadCounts): Family[] {
      const hosts = recording.hosts();
      return [
        ...totals.families(),
        gauge('gw_threads', 'Traffic threads that run.', [{ value: running }]),
        counter('gw_thread_restarts_total', 'Traffic threads that ended and were replaced.', [{ value: restarts }]),
        ...recordFamilies(recording.totals()),
        ...uptimeFamilies(hosts.states, hosts.totals),
      ];
    },
    async close(): Promise<void> {
      clearInterval(timer);
      await recording.close();
    },
  };
}

function recordFamilies(totals: Record<'records' | 'folded' | 'lost' | 'dropped' | 'unlogged', number>): Family[] {
  return [
    counter('gw_records_total', 'Calls that were written down.', [{ value: totals.records - totals.lost }]),
    counter('gw_records_dropped_total', 'Calls that were not, by where there was no room.', [
      { labels: { where: 'thread' }, value: totals.dropped },
      { labels: { where: 'main' }, value: totals.lost },
    ]),
    counter('gw_records_folded_total', 'Calls counted under the path `other`.', [{ value: totals.folded }]),
    counter('gw_calls_unlogged_total', 'Calls counted but not kept one by one.', [{ value: totals.unlogged }]),
  ];
}
