import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeMetrics } from '#base/otlp/encode-metrics.ts';
import type { OtlpMetric } from '#base/otlp/metric.ts';
import { createFrame, describeSource, metricSignal } from '#base/otlp/resource.ts';
import { otlpContentTypes } from '#base/otlp/span.ts';
import { decodeExport, listDecodedMetrics, toAttributes } from '../../../tests/support/otlp.ts';
import { counter, formatExposition, gauge, histogram } from './exposition.ts';
import { createMetricConverter } from './otlp-metrics.ts';

test('families are formatted with HELP, TYPE and one line per sample', () => {
  assert.equal(
    formatExposition([
      counter('gw_requests_total', 'Calls.', [{ labels: { api: 'a', status: '2xx' }, value: 3 }]),
      gauge('gw_threads', 'Threads.', [{ value: 2 }]),
    ]),
    `# HELP gw_requests_total Calls.
# TYPE gw_requests_total counter
gw_requests_total{api="a",status="2xx"} 3
# HELP gw_threads Threads.
# TYPE gw_threads gauge
gw_threads 2
`,
  );
});

test('histogram buckets are cumulative', () => {
  assert.equal(
    formatExposition([
      histogram(
        'h',
        'H.',
        [0.1, 1],
        [
          { labels: {}, counts: [2, 3, 4], sum: 12.5 },
          { labels: { api: 'a' }, counts: [0, 1, 0], sum: 0.5 },
        ],
      ),
    ]),
    `# HELP h H.
# TYPE h histogram
h_bucket{le="0.1"} 2
h_bucket{le="1"} 5
h_bucket{le="+Inf"} 9
h_sum 12.5
h_count 9
h_bucket{api="a",le="0.1"} 0
h_bucket{api="a",le="1"} 1
h_bucket{api="a",le="+Inf"} 1
h_sum{api="a"} 0.5
h_count{api="a"} 1
`,
  );
});

test('label values are escaped', () => {
  assert.match(
    formatExposition([gauge('g', 'G.', [{ labels: { it: 'a"b\\c\nd' }, value: 1 }])]),
    /^g\{it="a\\"b\\\\c\\nd"\} 1$/m,
  );
});

test('a family without samples is omitted', () => {
  assert.equal(
    formatExposition([counter('c', 'C.', []), gauge('g', 'G.', [{ value: Number.NaN }])]),
    '# HELP g G.\n# TYPE g gauge\ng NaN\n',
  );
});

const source = describeSource({ serviceName: 'gw', version: '1', instanceId: 'n' });
const families = (count: number) => [
  counter('gw_requests_total', 'Calls.', [
    { labels: { api: 'a', status: '2xx' }, value: count },
    { labels: { api: 'é"b', status: '2xx' }, value: 1 },
  ]),
  gauge('gw_thread_heap_bytes', 'Heap.', [{ value: 2.5 }, { labels: { thread: '1' }, value: Number.NaN }]),
  histogram(
    'gw_request_duration_seconds',
    'Durations.',
    [0.1, 1],
    [{ labels: {}, counts: [count, 1, 0], sum: count * 0.05 + 0.5 }],
  ),
  counter('gw_none_total', 'None.', []),
];

/** Metrics in both encodings, decoded; fails where they differ. */
function decodeBoth(metrics: readonly OtlpMetric[]) {
  const [json, protobuf] = (['json', 'protobuf'] as const).map(protocol =>
    listDecodedMetrics(
      decodeExport(
        otlpContentTypes[protocol],
        createFrame(protocol, metricSignal, source)([encodeMetrics(protocol, metrics)]),
        '/v1/metrics',
      ),
    ),
  );
  assert.deepEqual(protobuf, json);
  return json!;
}

test('families become OTLP metrics: sums, gauges and histograms with buckets that are not cumulative', () => {
  const convert = createMetricConverter('cumulative', 1_000_000);
  convert(families(3), 1_500_000);
  const [sum, heap, durations, ...rest] = decodeBoth(convert(families(5), 2_000_000.25));
  assert.deepEqual(rest, []);
  assert.deepEqual(
    [sum!.name, sum!.unit, sum!.description, sum!.sum!.aggregationTemporality, sum!.sum!.isMonotonic],
    ['gw_requests_total', undefined, 'Calls.', 2, true],
  );
  const [first, second] = sum!.sum!.dataPoints;
  assert.deepEqual(
    [first!.startTimeUnixNano, first!.timeUnixNano, first!.asDouble, toAttributes(first!.attributes)],
    ['1000000000000', '2000000250000', 5, { api: 'a', status: '2xx' }],
  );
  assert.deepEqual(toAttributes(second!.attributes), { api: 'é"b', status: '2xx' });
  // A point without a number is left out.
  assert.deepEqual(
    [heap!.unit, heap!.gauge],
    ['By', { dataPoints: [{ timeUnixNano: '2000000250000', asDouble: 2.5 }] }],
  );
  assert.deepEqual([durations!.unit, durations!.histogram!.aggregationTemporality], ['s', 2]);
  const [point] = durations!.histogram!.dataPoints;
  assert.deepEqual(
    [point!.count, point!.sum, point!.bucketCounts, point!.explicitBounds],
    ['6', 0.75, ['5', '1', '0'], [0.1, 1]],
  );
});

test('delta metrics count from the previous export, and from zero after a reset', () => {
  const convert = createMetricConverter('delta', 1_000_000);
  const read = (count: number, atMs: number) => {
    const [sum, , durations] = decodeBoth(convert(families(count), atMs));
    const [point] = durations!.histogram!.dataPoints;
    assert.equal(sum!.sum!.aggregationTemporality, 1);
    const { asDouble, startTimeUnixNano } = sum!.sum!.dataPoints[0]!;
    return [asDouble, point!.count, point!.bucketCounts, startTimeUnixNano];
  };
  assert.deepEqual(read(3, 2_000_000), [3, '4', ['3', '1', '0'], '1000000000000']);
  assert.deepEqual(read(5, 3_000_000), [2, '2', ['2', '0', '0'], '2000000000000']);
  assert.deepEqual(read(1, 4_000_000), [1, '2', ['1', '1', '0'], '3000000000000']);
});

test('each labelled series of a histogram is a point', () => {
  const convert = createMetricConverter('cumulative', 1);
  const series = ['a', 'b'].map(api => ({ labels: { api }, counts: new Float64Array([1, 2]), sum: 3 }));
  const [metric] = decodeBoth(convert([histogram('h', '', [1], series)], 2));
  assert.deepEqual(
    metric!.histogram!.dataPoints.map(point => [toAttributes(point.attributes), point.bucketCounts, point.count]),
    [
      [{ api: 'a' }, ['1', '2'], '3'],
      [{ api: 'b' }, ['1', '2'], '3'],
    ],
  );
});
