import {
  type AccessLogCounts,
  codeRowFactor,
  durationBounds,
  durationLength,
  durationNames,
  durationRowLength,
  maxCountedApis,
  otherApi,
  parseUpstreamErrorKey,
  statusClasses,
  type ThreadState,
  type TrafficMetrics,
  toUpstreamErrorKey,
} from '../metrics-report.ts';
import { counter, gauge, histogram, type MetricFamily, type MetricSample } from './exposition.ts';

/** Status codes of one API with a series of their own; further ones are counted under `other`. */
const maxCodesPerApi = 40;
const otherCode = 'other';

/** Series with many labels, of a bounded number of APIs. */
interface ApiDetail {
  readonly durations: Float64Array;
  readonly codes: Map<string, number>;
}

/** Totals of one API; `detail` may be that of `other`. */
interface ApiTotals {
  readonly calls: Float64Array;
  readonly detail: ApiDetail;
}

/** Totals by API within two bounds, one for each row of a thread and one for detail. */
function createApiTotals(maxDetailedApis: number) {
  const byApi = new Map<string, ApiTotals>();
  const details = new Map<string, ApiDetail>();
  let detailedApis = 0;

  function findDetail(api: string): ApiDetail {
    const known = details.get(api);
    if (known) return known;
    if (api !== '' && api !== otherApi && ++detailedApis > maxDetailedApis) return findDetail(otherApi);
    const created = { durations: new Float64Array(durationRowLength), codes: new Map<string, number>() };
    details.set(api, created);
    return created;
  }

  function find(api: string): ApiTotals {
    const known = byApi.get(api);
    if (known) return known;
    if (byApi.size >= maxCountedApis && api !== otherApi) return find(otherApi);
    const created = { calls: new Float64Array(statusClasses.length), detail: findDetail(api) };
    byApi.set(api, created);
    return created;
  }
  return { find, byApi, details };
}

/** Process totals of all traffic threads since start, including ended ones. */
export function createTrafficTotals(maxDetailedApis: number) {
  const apis = createApiTotals(maxDetailedApis);
  const refusals = new Map<string, number>();
  const upstreamErrors = new Map<string, number>();
  const invalid = new Map<number, number>();
  const lines = { accepted: 0, dropped: 0, failed: 0 };
  let requests = 0;
  const states = new Map<string, ThreadState>();
  /** Totals by thread and row of its reports. */
  const rows = new Map<string, ApiTotals[]>();

  /** After the rows of its report: an API without a series of its own counts as one of the others. */
  function addUpstreamErrors(more: ReadonlyMap<string, number>): void {
    for (const [given, count] of more) {
      const { reason, api } = parseUpstreamErrorKey(given);
      addTo(upstreamErrors, apis.byApi.has(api) ? given : toUpstreamErrorKey(reason, otherApi), count);
    }
  }

  return {
    add(thread: string, metrics: TrafficMetrics): void {
      const threadRows = rows.get(thread) ?? [];
      rows.set(thread, threadRows);
      for (const api of metrics.apis) threadRows.push(apis.find(api));
      for (const [row, { calls, detail }] of threadRows.entries()) {
        addAll(calls, metrics.calls, row * statusClasses.length);
        addAll(detail.durations, metrics.durations, row * durationRowLength);
      }
      for (const count of metrics.calls) requests += count;
      for (const [key, count] of metrics.codes)
        addCode(threadRows[Math.floor(key / codeRowFactor)]!.detail, key % codeRowFactor, count);
      addUpstreamErrors(metrics.upstreamErrors);
      for (const [code, count] of metrics.refusals) addTo(refusals, code, count);
      for (const [status, count] of metrics.invalid) addTo(invalid, status, count);
    },
    addAccessLog({ accepted, dropped, failed }: AccessLogCounts): void {
      lines.accepted += accepted;
      lines.dropped += dropped;
      lines.failed += failed;
    },
    setState(thread: string, state: ThreadState): void {
      states.set(thread, state);
    },
    removeThread(thread: string): void {
      states.delete(thread);
      rows.delete(thread);
    },
    /** Requests since the start, and the highest event loop delay that a thread last reported. */
    load: () => ({ requests, lagSeconds: Math.max(0, ...[...states.values()].map(it => it.lagSeconds)) }),
    families: (): MetricFamily[] => [
      ...trafficFamilies(apis.byApi, refusals, upstreamErrors),
      ...detailFamilies(apis.details),
      ...accessLogFamilies(lines, invalid),
      ...stateFamilies(states),
    ],
  };
}

function addAll(into: Float64Array, more: ArrayLike<number>, from: number): void {
  for (let at = 0; at < into.length; at++) into[at]! += more[from + at]!;
}

const addTo = <Key>(counts: Map<Key, number>, key: Key, more: number) => counts.set(key, (counts.get(key) ?? 0) + more);

function addCode({ codes }: ApiDetail, status: number, count: number): void {
  const code = String(status);
  addTo(codes, codes.has(code) || codes.size < maxCodesPerApi ? code : otherCode, count);
}

const trafficFamilies = (
  apis: ReadonlyMap<string, ApiTotals>,
  refusals: ReadonlyMap<string, number>,
  upstreamErrors: ReadonlyMap<string, number>,
): MetricFamily[] => [
  counter(
    'gw_requests_total',
    'Requests by API and status class. An empty API stands for requests without a route.',
    [...apis].flatMap(([api, { calls }]) =>
      statusClasses
        .map((status, at) => ({ labels: { api, status }, value: calls[at]! }))
        .filter(({ value }) => value > 0),
    ),
  ),
  counter(
    'gw_refusals_total',
    'Requests refused by the gateway or failed at the upstream, by reason.',
    codeSamples(refusals),
  ),
  counter(
    'gw_upstream_errors_total',
    'Failed upstream requests by API and reason.',
    upstreamErrorSamples(upstreamErrors),
  ),
];

const durationFamilies = {
  total: {
    name: 'gw_request_duration_seconds',
    about: 'Duration from the head of a request to the end of its response, by API.',
  },
  upstream: {
    name: 'gw_upstream_duration_seconds',
    about: 'Duration from sending a request to the upstream to the head of its response, by API.',
  },
  gateway: {
    name: 'gw_gateway_duration_seconds',
    about:
      'Duration of a request without the time of its upstream, by API; includes the transfer of the response body.',
  },
} as const satisfies Record<(typeof durationNames)[number], { readonly name: string; readonly about: string }>;

const detailFamilies = (details: ReadonlyMap<string, ApiDetail>): MetricFamily[] => [
  ...durationNames.map((kind, at) =>
    histogram(
      durationFamilies[kind].name,
      durationFamilies[kind].about,
      durationBounds,
      [...details].flatMap(([api, { durations }]) => {
        const row = durations.slice(at * durationLength, (at + 1) * durationLength);
        const counts = row.subarray(0, -1);
        return counts.every(count => count === 0) ? [] : [{ labels: { api }, counts, sum: row.at(-1)! }];
      }),
    ),
  ),
  counter(
    'gw_responses_total',
    'Responses by API and status code.',
    [...details].flatMap(([api, { codes }]) => [...codes].map(([code, value]) => ({ labels: { api, code }, value }))),
  ),
];

const accessLogFamilies = (lines: AccessLogCounts, invalid: ReadonlyMap<number, number>): MetricFamily[] => [
  counter(
    'gw_invalid_requests_total',
    'Requests refused before they reached a route: malformed, too large, too slow. By status.',
    [...invalid].map(([status, value]) => ({ labels: { code: String(status) }, value })),
  ),
  counter('gw_access_log_lines_total', 'Lines of the access log that were buffered for writing.', [
    { value: lines.accepted },
  ]),
  counter('gw_access_log_dropped_total', 'Lines of the access log that were lost: full buffer, or failed write.', [
    { labels: { reason: 'buffer_full' }, value: lines.dropped },
    { labels: { reason: 'write_failed' }, value: lines.failed },
  ]),
];

const codeSamples = (codes: ReadonlyMap<string, number>): MetricSample[] =>
  [...codes].map(([code, value]) => ({ labels: { code }, value }));

const upstreamErrorSamples = (errors: ReadonlyMap<string, number>): MetricSample[] =>
  [...errors].map(([key, value]) => {
    const { reason, api } = parseUpstreamErrorKey(key);
    return { labels: { api, reason }, value };
  });

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
