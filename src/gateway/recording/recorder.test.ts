import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileKeySession } from '#access/keys/session.ts';
import { type CallBatch, forEachCall } from '#analytics/batch.ts';
import type { LogEntry } from '#analytics/log-store.ts';
import { toLogEntry } from '#analytics/logged-call.ts';
import { formatExposition } from '#analytics/metrics/exposition.ts';
import { createTrafficTotals } from '#analytics/metrics/totals.ts';
import {
  durationBounds,
  durationLength,
  durationRowLength,
  maxCountedApis,
  parseUpstreamErrorKey,
  type ThreadReport,
} from '#analytics/metrics-report.ts';
import { createLog } from '#base/log.ts';
import { readSettings, type SettingName } from '#base/settings.ts';
import { classicToModel } from '#definition/model.ts';
import { bodyFromBytes, bodyFromStream, noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { createResponse } from '../http/response.ts';
import { Exchange } from '../pipeline/exchange.ts';
import type { UpstreamFailureReason } from '../pipeline/upstream-failure.ts';
import type { Api } from '../routing/api.ts';
import { ApiAnalytics } from './api-analytics.ts';
import { createRecorder } from './recorder.ts';

function recorderWith(
  settings: Partial<Record<SettingName, string>> = {},
  capacity = 8,
  redact = (text: string) => text,
) {
  const reports: ThreadReport[] = [];
  const recorder = createRecorder({
    redact,
    settings: readSettings({ flags: settings }),
    log: createLog({ level: 'error', format: 'json' }),
    post: report => reports.push(report),
    capacity,
  });
  const batches = () => reports.flatMap(({ batch }) => batch ?? []);
  return { recorder, reports, batches };
}

/** As much of an API as a record is about. */
function api(definition: Record<string, unknown> = {}): Api {
  const model = classicToModel({
    name: 'Orders',
    api_id: 'orders',
    org_id: 'org',
    use_keyless: true,
    proxy: { listen_path: '/orders/' },
    ...definition,
  });
  const made = { id: 'orders', orgId: 'org', name: 'Orders', listenPath: '/orders/', model };
  return { ...made, analytics: new ApiAnalytics(made) } as Api;
}

function withId(id: string): Api {
  const made = { ...api(), id };
  return { ...made, analytics: new ApiAnalytics(made) };
}

function call(given: Partial<Exchange> = {}, headers: string[] = []): Exchange {
  const made = new Exchange({
    method: 'GET',
    target: '/orders/1?token=hidden',
    path: '/orders/1',
    query: 'token=hidden',
    host: 'localhost',
    headers: new HeaderList(headers),
    body: given.body ?? noBody(),
    peer: { address: '127.0.0.1', isTls: false, serverName: '', certificate: undefined },
    clientAddress: '10.0.0.7',
    receivedAtMs: Date.UTC(2026, 1, 3, 12),
    startedAt: performance.now(),
  } as ConstructorParameters<typeof Exchange>[0]);
  const { body: _, ...rest } = given;
  return Object.assign(made, { innerPath: '/1', api: api(), status: 200 }, rest);
}

function listLogged(batches: readonly CallBatch[], retentionMs = 0): LogEntry['call'][] {
  const found: LogEntry['call'][] = [];
  for (const batch of batches) forEachCall(batch, record => found.push(toLogEntry(record, retentionMs).call));
  return found;
}

function recordOne(it: Exchange, settings: Partial<Record<SettingName, string>> = {}, complete = true) {
  const { recorder, batches } = recorderWith(settings);
  recorder.record(it, complete);
  recorder.close();
  return listLogged(batches())[0];
}

const text = (base64: string) => Buffer.from(base64, 'base64').toString();

test('a recorded request has every column of its record, the key only as a hash', () => {
  const session = compileKeySession(
    { alias: 'shop', oauth_client_id: 'client', tags: ['vip'], meta_data: { gw_developer_id: 'd1' } },
    ['gold'],
  );
  const found = recordOne(
    call(
      {
        session,
        keyId: 'the-secret-key-id',
        keyHash: 'abcd1234',
        versionName: 'v2',
        upstreamMs: 3,
        responseBytes: 7,
        body: bodyFromBytes(Buffer.from('12345')),
        tags: ['cached-response'],
        api: api({ tags: ['eu'], tag_headers: ['X-Team'] }),
      },
      ['User-Agent', 'curl/8', 'x-team', 'blue'],
    ),
  )!;
  const { request_time, latency, ...rest } = found;
  assert.deepEqual(rest, {
    timestamp: '2026-02-03T12:00:00Z',
    request_id: '',
    day: 3,
    month: 2,
    year: 2026,
    hour: 12,
    method: 'GET',
    host: 'localhost',
    path: '/1',
    raw_path: '/orders/1',
    original_path: '/1',
    listen_path: '/orders/',
    track_path: false,
    content_length: 5,
    response_length: 7,
    user_agent: 'curl/8',
    ip_address: '10.0.0.7',
    response_code: 200,
    refusal: '',
    upstream_error: '',
    api_key: 'abcd1234',
    alias: 'shop',
    oauth_id: 'client',
    api_version: 'v2',
    api_name: 'Orders',
    api_id: 'orders',
    org_id: 'org',
    tags: [
      'key-abcd1234',
      'org-org',
      'api-orders',
      'eu',
      'pol-gold',
      'vip',
      'dev-d1',
      'cached-response',
      'x-team-blue',
    ],
    raw_request: '',
    raw_response: '',
    expireAt: '2126-01-10T12:00:00Z',
  });
  assert.equal(latency.upstream, 3);
  assert.equal(latency.total, request_time);
  assert.doesNotMatch(JSON.stringify(found), /the-secret-key-id|hidden/);
});

test('a logged request expires by the retention of the installation, or of its API when shorter', () => {
  const dayMs = 86_400_000;
  const expiry = (retentionSeconds: number, retentionMs: number) => {
    const { recorder, batches } = recorderWith();
    recorder.record(call({ api: api({ expire_analytics_after: retentionSeconds }) }), true);
    recorder.close();
    return listLogged(batches(), retentionMs)[0]!.expireAt;
  };
  assert.equal(expiry(0, 30 * dayMs), '2026-03-05T12:00:00Z');
  assert.equal(expiry(3600, 30 * dayMs), '2026-02-03T13:00:00Z');
  assert.equal(expiry(90 * 86_400, 30 * dayMs), '2026-03-05T12:00:00Z');
  assert.equal(expiry(0, 0), '2126-01-10T12:00:00Z');
});

test('a request without key and version is recorded as anonymous and unversioned', () => {
  const { api_key, api_version } = recordOne(call())!;
  assert.deepEqual([api_key, api_version], ['00000000', 'Non Versioned']);
});

test('a client disconnect is recorded as 499; an aborted response keeps its status with a refusal code', () => {
  const gone = recordOne(call({ status: 0, isClientDisconnected: true }), {}, false)!;
  assert.deepEqual([gone.response_code, gone.refusal], [499, 'client_disconnected']);
  const broken = recordOne(call({ status: 200 }), {}, false)!;
  assert.deepEqual([broken.response_code, broken.refusal], [200, 'upstream_failed']);
});

test('an upstream failure is recorded as reason and detail, with secrets redacted', () => {
  const { recorder, batches } = recorderWith({}, 8, text => text.replaceAll('hidden', '***'));
  const upstreamFailure = { reason: 'name_not_resolved', detail: 'getaddrinfo ENOTFOUND hidden.example' } as const;
  recorder.record(call({ status: 502, errorCode: 'upstream_dns_failed', upstreamFailure }), true);
  recorder.close();
  const { upstream_error } = listLogged(batches())[0]!;
  assert.equal(upstream_error, 'name_not_resolved: getaddrinfo ENOTFOUND ***.example');
});

test('upstream failures are counted by API and reason; APIs beyond the bound count as one', () => {
  const { recorder, reports } = recorderWith({}, maxCountedApis * 2);
  const fail = (id: string, reason: UpstreamFailureReason) =>
    recorder.record(call({ api: withId(id), status: 502, upstreamFailure: { reason, detail: 'x' } }), true);
  for (let n = 0; n < maxCountedApis; n++) recorder.record(call({ api: withId(`api ${n}`) }), true);
  fail('api 1', 'tls_failed');
  fail('api 1', 'tls_failed');
  fail('api 1', 'connection_refused');
  fail('one more', 'tls_failed');
  fail('and another', 'tls_failed');
  recorder.record(call({ api: undefined, upstreamFailure: { reason: 'no_target', detail: 'x' } }), true);
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

test('the country is that of a trusted proxy alone, method and agent are recorded without the raw log', () => {
  const record = (isTrusted: boolean, country: string, settings: Partial<Record<SettingName, string>>) => {
    const { recorder, batches } = recorderWith({ 'analytics.raw_log': 'false', ...settings });
    const it = call({}, ['CF-Country', country, 'User-Agent', 'curl/8']);
    recorder.record(Object.assign(it, { peer: { ...it.peer, isTrusted } }), true);
    recorder.close();
    const words: string[] = [];
    for (const batch of batches())
      forEachCall(batch, found =>
        words.push(found.word('country'), found.word('method'), found.word('userAgent'), found.word('host')),
      );
    return words;
  };
  const named = { 'analytics.country_header': 'cf-Country' };
  assert.deepEqual(record(true, 'de', named), ['DE', 'GET', 'curl/8', '']);
  assert.deepEqual(record(false, 'DE', named), ['', 'GET', 'curl/8', '']);
  assert.deepEqual(record(true, 'DE', {}), ['', 'GET', 'curl/8', '']);
  for (const country of ['', 'D', 'DEU', '=1', 'D1']) assert.equal(record(true, country, named)[0], '', country);
});

test('an untracked request is counted in metrics but not recorded', () => {
  const calls: [Exchange, Partial<Record<SettingName, string>>][] = [
    [call({ api: api({ do_not_track: true }) }), {}],
    [call({ isRecorded: false }), {}],
    [call(), { 'analytics.enabled': 'false' }],
    [call(), { 'analytics.ignored_addresses': '10.0.0.0/8' }],
    [call({ api: undefined, status: 404 }), {}],
  ];
  for (const [it, settings] of calls) {
    const { recorder, reports, batches } = recorderWith(settings);
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

test('a tracked endpoint is recorded with the path of its definition', () => {
  const { path, original_path, track_path } = recordOne(call({ trackedPath: '/{id}' }))!;
  assert.deepEqual([path, original_path, track_path], ['/{id}', '/1', true]);
});

test('records beyond the capacity are dropped and counted while batches are unacknowledged; acknowledged batches free capacity', () => {
  const { recorder, reports, batches } = recorderWith({}, 8);
  for (let n = 0; n < 100; n++) recorder.record(call(), true);
  assert.deepEqual(
    batches().map(({ count }) => count),
    [4, 4, 4, 4],
  );
  recorder.onBatchAccepted();
  recorder.record(call(), true);
  assert.equal(batches().length, 5);
  recorder.close();
  const dropped = reports.reduce((sum, { metrics: measures }) => sum + (measures?.dropped ?? 0), 0);
  assert.equal(dropped, 76);
  assert.equal(batches().reduce((sum, { count }) => sum + count, 0) + dropped, 101);
});

test('metrics count every request by API and status class, refusals by code, and reset after a report', () => {
  const { recorder, reports } = recorderWith();
  const one = api();
  recorder.record(call({ api: one }), true);
  recorder.record(call({ api: one, status: 403, errorCode: 'endpoint_forbidden' }), true);
  recorder.record(call({ status: 404, api: undefined }), true);
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
  const { recorder, reports } = recorderWith();
  const [one, two] = ['one', 'two'].map(id => {
    const made = { ...api(), id };
    return { ...made, analytics: new ApiAnalytics(made) } as Api;
  });
  const startedAt = performance.now() - 40;
  for (let code = 400; code < 445; code++) recorder.record(call({ api: one, status: code, startedAt }), true);
  recorder.record(call({ api: two, status: 200, startedAt, upstreamMs: 30 }), true);
  recorder.record(call({ api: undefined, status: 404, startedAt }), true);
  recorder.recordInvalid({ ...call(), status: 431, fault: 'the head is too large' });
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

const detailed = {
  enable_detailed_recording: true,
  use_keyless: false,
  auth_configs: { authToken: { auth_header_name: 'X-Key', use_param: true, param_name: 'token' } },
};

test('detailed recording stores request and response with credentials redacted', () => {
  const response = createResponse(201, { 'Content-Type': 'text/plain', 'Set-Cookie': 'id=hidden' }, 'made');
  const headers = ['X-Key', 'hidden', 'Authorization', 'hidden', 'Cookie', 'a=hidden', 'Accept', '*/*'];
  const body = bodyFromBytes(Buffer.from('{"a":1}'));
  const found = recordOne(call({ api: api(detailed), response, body }, headers))!;
  assert.equal(
    text(found.raw_request),
    'GET /orders/1 HTTP/1.1\r\nX-Key: ***\r\nAuthorization: ***\r\nCookie: ***\r\nAccept: */*\r\n\r\n{"a":1}',
  );
  assert.equal(text(found.raw_response), 'HTTP/1.1 201\r\nContent-Type: text/plain\r\nSet-Cookie: ***\r\n\r\nmade');
});

test('detailed recording redacts the credentials of every API that a looped request passed', () => {
  const inBody = api({ use_keyless: false, use_basic_auth: true, basic_auth: { extract_from_body: true } });
  const looped = call(
    {
      ...{ api: api({ enable_detailed_recording: true }), previousApis: [api(detailed), inBody], loopCount: 2 },
      ...{ target: '/orders/1?token=hidden&page=2', body: bodyFromBytes(Buffer.from('user=ada&password=hidden')) },
    },
    ['X-Key', 'hidden', 'Accept', '*/*'],
  );
  assert.equal(
    text(recordOne(looped)!.raw_request),
    'GET /orders/1?page=2 HTTP/1.1\r\nX-Key: ***\r\nAccept: */*\r\n\r\n',
  );
});

test('detailed recording can be enabled by a key, buffers no streamed body, and is bounded', () => {
  const session = compileKeySession({ enable_detailed_recording: true }, []);
  async function* chunks() {
    yield Buffer.from('streamed');
  }
  const streamed = recordOne(call({ session, body: bodyFromStream(chunks(), 8) }))!;
  assert.doesNotMatch(text(streamed.raw_request), /streamed/);
  const large = recordOne(call({ session, response: createResponse(200, {}, 'x'.repeat(100_000)) }))!;
  assert.equal(text(large.raw_response).length, 8192);
  const off = recordOne(call({ session }), { 'analytics.raw_log': 'false' })!;
  assert.equal(off.raw_request, '');
});

test('client-supplied texts are truncated to a bound', () => {
  const found = recordOne(call({ innerPath: `/${'a'.repeat(5000)}` }, ['User-Agent', 'b'.repeat(5000)]))!;
  assert.deepEqual([found.path.length, found.user_agent.length], [1024, 1024]);
});

test('uptime results are posted with reports, wait while batches are unacknowledged, and are bounded', () => {
  const { recorder, reports } = recorderWith();
  const host = {
    ...{
      apiId: 'orders',
      orgId: 'org',
      apiName: 'Orders',
      tags: [],
      host: '10.0.0.1:80',
      atMs: 0,
      up: true,
      url: '',
      status: 200,
    },
    ...{ latencyMs: 1, failure: '', tests: 1, passed: 1, passedMs: 1, retentionSeconds: 0 },
  };
  recorder.addUptimeResults(Array.from({ length: 1999 }, () => host));
  recorder.addUptimeResults([host, host, host]);
  recorder.close();
  const [sent, ...others] = reports.flatMap(({ uptimeResults: tested }) => tested ?? []);
  assert.deepEqual([sent?.hosts.length, sent?.dropped, others], [2000, 2, []]);
});
