import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileKeySession } from '#access/keys/session.ts';
import { type CallBatch, forEachCall } from '#analytics/batch.ts';
import type { LogEntry } from '#analytics/log-store.ts';
import { toLogEntry } from '#analytics/logged-call.ts';
import type { ThreadReport } from '#analytics/metrics-report.ts';
import { createLog } from '#base/log.ts';
import { readSettings, type SettingName } from '#base/settings.ts';
import { classicToModel } from '#definition/model.ts';
import { bodyFromBytes, bodyFromStream, noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { createResponse } from '../http/response.ts';
import { Exchange } from '../pipeline/exchange.ts';
import type { Api } from '../routing/api.ts';
import { ApiAnalytics } from './api-analytics.ts';
import { createRecorder } from './recorder.ts';

function recorderWith(settings: Partial<Record<SettingName, string>> = {}, capacity = 8) {
  const reports: ThreadReport[] = [];
  const recorder = createRecorder({
    redact: text => text,
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
  const { apis, calls, refusals, total, upstream } = reports.flatMap(({ metrics: measures }) => measures ?? [])[0]!;
  assert.deepEqual(apis, ['', 'other', 'orders']);
  assert.deepEqual([...calls], [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0]);
  assert.deepEqual([...refusals], [['endpoint_forbidden', 1]]);
  assert.equal(
    total.buckets.reduce((sum, it) => sum + it, 0),
    3,
  );
  assert.equal(
    upstream.buckets.reduce((sum, it) => sum + it, 0),
    0,
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
