import {
  durationBounds,
  maxCountedApis,
  otherApi,
  statusClasses,
  type ThreadState,
  type TrafficMetrics,
} from '../metrics-report.ts';
import { counter, gauge, histogram, type MetricFamily, type MetricSample } from './exposition.ts';

/** Process totals of all traffic threads since start, including ended ones. */
export function createTrafficTotals() {
  const calls = new Map<string, Float64Array>();
  const total = { buckets: new Float64Array(durationBounds.length + 1), sum: 0 };
  const upstream = { buckets: new Float64Array(durationBounds.length + 1), sum: 0 };
  const refusals = new Map<string, number>();
  const states = new Map<string, ThreadState>();
  /** Totals by thread and row of its reports. */
  const rows = new Map<string, Float64Array[]>();

  function callsOf(api: string): Float64Array {
    const counts = calls.get(api);
    if (counts) return counts;
    if (calls.size >= maxCountedApis && api !== otherApi) return callsOf(otherApi);
    const created = new Float64Array(statusClasses.length);
    calls.set(api, created);
    return created;
  }

  const addAll = (into: Float64Array, more: ArrayLike<number>, from = 0) => {
    for (let at = 0; at < into.length; at++) into[at]! += more[from + at]!;
  };

  return {
    add(thread: string, metrics: TrafficMetrics): void {
      const threadRows = rows.get(thread) ?? [];
      rows.set(thread, threadRows);
      for (const api of metrics.apis) threadRows.push(callsOf(api));
      for (const [row, sums] of threadRows.entries()) addAll(sums, metrics.calls, row * statusClasses.length);
      addAll(total.buckets, metrics.total.buckets);
      addAll(upstream.buckets, metrics.upstream.buckets);
      total.sum += metrics.total.sum;
      upstream.sum += metrics.upstream.sum;
      for (const [code, count] of metrics.refusals) refusals.set(code, (refusals.get(code) ?? 0) + count);
    },
    setState(thread: string, state: ThreadState): void {
      states.set(thread, state);
    },
    removeThread(thread: string): void {
      states.delete(thread);
      rows.delete(thread);
    },
    families: (): MetricFamily[] => [
      ...trafficFamilies({ calls, total, upstream, refusals }),
      ...stateFamilies(states),
    ],
  };
}

interface DurationTotals {
  readonly buckets: Float64Array;
  readonly sum: number;
}

interface Traffic {
  readonly calls: ReadonlyMap<string, Float64Array>;
  readonly total: DurationTotals;
  readonly upstream: DurationTotals;
  readonly refusals: ReadonlyMap<string, number>;
}

const trafficFamilies = ({ calls, total, upstream, refusals }: Traffic): MetricFamily[] => [
  counter(
    'gw_requests_total',
    'Requests by API and status class. An empty API stands for requests without a route.',
    callSamples(calls),
  ),
  histogram(
    'gw_request_duration_seconds',
    'Duration from the head of a request to the end of its response.',
    durationBounds,
    total.buckets,
    total.sum,
  ),
  histogram(
    'gw_upstream_duration_seconds',
    'Duration from sending a request to the upstream to the head of its response.',
    durationBounds,
    upstream.buckets,
    upstream.sum,
  ),
  counter(
    'gw_refusals_total',
    'Requests refused by the gateway or failed at the upstream, by reason.',
    codeSamples(refusals),
  ),
  counter(
    'gw_upstream_failures_total',
    'Requests without a complete upstream response, by reason.',
    failureSamples(refusals),
  ),
];

function callSamples(calls: ReadonlyMap<string, Float64Array>): MetricSample[] {
  return [...calls].flatMap(([api, counts]) =>
    statusClasses
      .map((status, at) => ({ labels: { api, status }, value: counts[at]! }))
      .filter(({ value }) => value > 0),
  );
}

const codeSamples = (codes: ReadonlyMap<string, number>): MetricSample[] =>
  [...codes].map(([code, value]) => ({ labels: { code }, value }));

const failureSamples = (codes: ReadonlyMap<string, number>): MetricSample[] =>
  [...codes]
    .filter(([code]) => code.startsWith('upstream_'))
    .map(([code, value]) => ({ labels: { reason: code.slice('upstream_'.length) }, value }));

function stateFamilies(states: ReadonlyMap<string, ThreadState>): MetricFamily[] {
  const samples = (value: (state: ThreadState) => number): MetricSample[] =>
    [...states].map(([thread, state]) => ({ labels: { thread }, value: value(state) }));
  return [
    gauge(
      'gw_thread_event_loop_lag_seconds',
      'Maximum event loop delay of a thread in the last second.',
      samples(it => it.lagSeconds),
    ),
    gauge(
      'gw_thread_heap_bytes',
      'Heap memory of a thread.',
      samples(it => it.heapBytes),
    ),
    gauge(
      'gw_thread_utilization',
      'Event loop utilization of a thread.',
      samples(it => it.utilization),
    ),
  ];
}
