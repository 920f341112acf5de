import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatExposition } from '#analytics/metrics/exposition.ts';
import { createTrafficTotals } from '#analytics/metrics/totals.ts';
import {
  durationBounds,
  durationLength,
  durationRowLength,
  maxCountedApis,
  parseUpstreamErrorKey,
} from '#analytics/metrics-report.ts';
import type { SettingName } from '#base/settings.ts';
import { openRecorder, recordedApi, recordedApiWithId, recordedCall } from '../../../tests/support/recorder.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { UpstreamFailureReason } from '../pipeline/upstream-failure.ts';
import type { Api } from '../routing/api.ts';
import { ApiAnalytics } from './api-analytics.ts';

test('upstream failures are counted by API and reason; APIs beyond the bound count as one', () => {
  const { recorder, reports } = openRecorder({}, maxCountedApis * 2);
  const fail = (id: string, reason: UpstreamFailureReason) =>
    recorder.record(
      recordedCall({ api: recordedApiWithId(id), status: 502, upstreamFailure: { reason, detail: 'x' } }),
      true,
    );
  for (let n = 0; n < maxCountedApis; n++) recorder.record(recordedCall({ api: recordedApiWithId(`api ${n}`) }), true);
  fail('api 1', 'tls_failed');
  fail('api 1', 'tls_failed');
  fail('api 1', 'connection_refused');
  fail('one more', 'tls_failed');
  fail('and another', 'tls_failed');
  recorder.record(recordedCall({ api: undefined, upstreamFailure: { reason: 'no_target', detail: 'x' } }), true);
  recorder.close();
  const { upstreamErrors } = reports.flatMap(({ metrics }) => metrics ?? [])[0]!;
  assert.deepEqual(
    [...upstreamErrors].map(([key, count]) => ({ ...parseUpstreamErrorKey(key), count })),
    [
      { reason: 'tls_failed', api: 'api 1', count: 2 },
      { reason: 'connection_refused', api: 'api 1', count: 1 },
      { reason: 'tls_failed', api: 'other', count: 2 },
      { reason: 'no_target', api: '', count: 1 },
    ],
  );
  const totals = createTrafficTotals(100);
  for (const { metrics } of reports) if (metrics) totals.add('thread', metrics);
  const family = totals.families().find(({ name }) => name === 'gw_upstream_errors_total')!;
  assert.deepEqual(family.samples, [
    { labels: { api: 'api 1', reason: 'tls_failed' }, value: 2 },
    { labels: { api: 'api 1', reason: 'connection_refused' }, value: 1 },
    { labels: { api: 'other', reason: 'tls_failed' }, value: 2 },
    { labels: { api: '', reason: 'no_target' }, value: 1 },
  ]);
});

test('an untracked request is counted in metrics but not recorded', () => {
  const calls: [Exchange, Partial<Record<SettingName, string>>][] = [
    [recordedCall({ api: recordedApi({ do_not_track: true }) }), {}],
    [recordedCall({ isRecorded: false }), {}],
    [recordedCall(), { 'analytics.enabled': 'false' }],
    [recordedCall(), { 'analytics.ignored_addresses': '10.0.0.0/8' }],
    [recordedCall({ api: undefined, status: 404 }), {}],
  ];
  for (const [it, settings] of calls) {
    const { recorder, reports, batches } = openRecorder(settings);
    recorder.record(it, true);
    recorder.close();
    assert.deepEqual(batches(), []);
    const measured = reports.flatMap(({ metrics: measures }) => measures ?? []);
    assert.equal(
      measured.reduce((sum, { calls }) => sum + calls.reduce((all, one) => all + one, 0), 0),
      1,
    );
  }
});

test('metrics count every request by API and status class, refusals by code, and reset after a report', () => {
  const { recorder, reports } = openRecorder();
  const one = recordedApi();
  recorder.record(recordedCall({ api: one }), true);
  recorder.record(recordedCall({ api: one, status: 403, errorCode: 'endpoint_forbidden' }), true);
  recorder.record(recordedCall({ status: 404, api: undefined }), true);
  recorder.close();
  const { apis, calls, refusals, durations } = reports.flatMap(({ metrics: measures }) => measures ?? [])[0]!;
  assert.deepEqual(apis, ['', 'other', 'orders']);
  assert.deepEqual([...calls], [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0]);
  assert.deepEqual([...refusals], [['endpoint_forbidden', 1]]);
  /** Requests in the histograms of a kind, of all APIs. */
  const countDurations = (kind: number) => {
    let sum = 0;
    for (let row = 0; row < apis.length; row++) {
      const at = row * durationRowLength + kind * durationLength;
      sum += durations.subarray(at, at + durationLength - 1).reduce((all, it) => all + it, 0);
    }
    return sum;
  };
  assert.deepEqual([0, 1, 2].map(countDurations), [3, 0, 3]);
});

test('durations and status codes are counted by API, and those beyond the bound under `other`', () => {
  const { recorder, reports } = openRecorder();
  const [one, two] = ['one', 'two'].map(id => {
    const made = { ...recordedApi(), id };
    return { ...made, analytics: new ApiAnalytics(made) } as Api;
  });
  const startedAt = performance.now() - 40;
  for (let code = 400; code < 445; code++) recorder.record(recordedCall({ api: one, status: code, startedAt }), true);
  recorder.record(recordedCall({ api: two, status: 200, startedAt, upstreamMs: 30 }), true);
  recorder.record(recordedCall({ api: undefined, status: 404, startedAt }), true);
  recorder.recordInvalid({ ...recordedCall(), status: 431, fault: 'the head is too large' });
  recorder.close();
  const totals = createTrafficTotals(1);
  for (const { metrics } of reports) if (metrics) totals.add('1', metrics);
  const lines = formatExposition(totals.families()).split('\n');
  const find = (start: string) => lines.filter(line => line.startsWith(start)).map(line => line.split(' ')[1]);
  assert.deepEqual(find('gw_request_duration_seconds_count{api="one"}'), ['45']);
  assert.deepEqual(find('gw_request_duration_seconds_count{api="other"}'), ['1']);
  assert.deepEqual(find('gw_request_duration_seconds_count{api=""}'), ['1']);
  assert.deepEqual(find('gw_request_duration_seconds_bucket{api="one",le="0.025"}'), ['0']);
  assert.deepEqual(find('gw_upstream_duration_seconds_sum'), ['0.03']);
  assert.deepEqual(find('gw_upstream_duration_seconds_bucket{api="other",le="0.025"}'), ['0']);
  assert.deepEqual(find('gw_upstream_duration_seconds_bucket{api="other",le="0.05"}'), ['1']);
  const [gatewaySum] = find('gw_gateway_duration_seconds_sum{api="other"}');
  const [totalSum] = find('gw_request_duration_seconds_sum{api="other"}');
  assert.ok(Math.abs(Number(totalSum) - Number(gatewaySum) - 0.03) < 1e-9);
  assert.equal(find('gw_responses_total{api="one",').length, 41);
  assert.deepEqual(find('gw_responses_total{api="one",code="439"}'), ['1']);
  assert.deepEqual(find('gw_responses_total{api="one",code="other"}'), ['5']);
  assert.deepEqual(find('gw_responses_total{api="other",code="200"}'), ['1']);
  assert.deepEqual(find('gw_requests_total{api="two",status="2xx"}'), ['1']);
  assert.deepEqual(find('gw_invalid_requests_total{code="431"}'), ['1']);
  const [family] = totals.families().filter(({ name }) => name === 'gw_upstream_duration_seconds');
  assert.deepEqual(
    family!.histogram!.series.map(({ labels, counts, sum }) => [labels, [...(counts as Float64Array)].indexOf(1), sum]),
    [[{ api: 'other' }, durationBounds.indexOf(0.05), 0.03]],
  );
});
