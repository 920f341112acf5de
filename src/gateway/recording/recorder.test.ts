import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileKeySession } from '#access/keys/session.ts';
import { forEachCall } from '#analytics/batch.ts';
import type { SettingName } from '#base/settings.ts';
import { listLogged, openRecorder, recordedApi, recordedCall, recordOne } from '../../../tests/support/recorder.ts';
import { bodyFromBytes } from '../http/body.ts';

test('a recorded request has every column of its record, the key only as a hash', () => {
  const session = compileKeySession(
    { alias: 'shop', oauth_client_id: 'client', tags: ['vip'], meta_data: { gw_developer_id: 'd1' } },
    ['gold'],
  );
  const found = recordOne(
    recordedCall(
      {
        session,
        keyId: 'the-secret-key-id',
        keyHash: 'abcd1234',
        versionName: 'v2',
        upstreamMs: 3,
        responseBytes: 7,
        body: bodyFromBytes(Buffer.from('12345')),
        tags: ['cached-response'],
        api: recordedApi({ tags: ['eu'], tag_headers: ['X-Team'] }),
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
    const { recorder, batches } = openRecorder();
    recorder.record(recordedCall({ api: recordedApi({ expire_analytics_after: retentionSeconds }) }), true);
    recorder.close();
    return listLogged(batches(), retentionMs)[0]!.expireAt;
  };
  assert.equal(expiry(0, 30 * dayMs), '2026-03-05T12:00:00Z');
  assert.equal(expiry(3600, 30 * dayMs), '2026-02-03T13:00:00Z');
  assert.equal(expiry(90 * 86_400, 30 * dayMs), '2026-03-05T12:00:00Z');
  assert.equal(expiry(0, 0), '2126-01-10T12:00:00Z');
});

test('a request without key and version is recorded as anonymous and unversioned', () => {
  const { api_key, api_version } = recordOne(recordedCall())!;
  assert.deepEqual([api_key, api_version], ['00000000', 'Non Versioned']);
});

test('a client disconnect is recorded as 499; an aborted response keeps its status with a refusal code', () => {
  const gone = recordOne(recordedCall({ status: 0, isClientDisconnected: true }), {}, false)!;
  assert.deepEqual([gone.response_code, gone.refusal], [499, 'client_disconnected']);
  const broken = recordOne(recordedCall({ status: 200 }), {}, false)!;
  assert.deepEqual([broken.response_code, broken.refusal], [200, 'upstream_failed']);
});

test('an upstream failure is recorded as reason and detail, with secrets redacted', () => {
  const { recorder, batches } = openRecorder({}, 8, text => text.replaceAll('hidden', '***'));
  const upstreamFailure = { reason: 'name_not_resolved', detail: 'getaddrinfo ENOTFOUND hidden.example' } as const;
  recorder.record(recordedCall({ status: 502, errorCode: 'upstream_dns_failed', upstreamFailure }), true);
  recorder.close();
  const { upstream_error } = listLogged(batches())[0]!;
  assert.equal(upstream_error, 'name_not_resolved: getaddrinfo ENOTFOUND ***.example');
});

test('the country is that of a trusted proxy alone, method and agent are recorded without the raw log', () => {
  const record = (isTrusted: boolean, country: string, settings: Partial<Record<SettingName, string>>) => {
    const { recorder, batches } = openRecorder({ 'analytics.raw_log': 'false', ...settings });
    const it = recordedCall({}, ['CF-Country', country, 'User-Agent', 'curl/8']);
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

test('a tracked endpoint is recorded with the path of its definition', () => {
  const { path, original_path, track_path } = recordOne(recordedCall({ trackedPath: '/{id}' }))!;
  assert.deepEqual([path, original_path, track_path], ['/{id}', '/1', true]);
});

test('records beyond the capacity are dropped and counted while batches are unacknowledged; acknowledged batches free capacity', () => {
  const { recorder, reports, batches } = openRecorder({}, 8);
  for (let n = 0; n < 100; n++) recorder.record(recordedCall(), true);
  assert.deepEqual(
    batches().map(({ count }) => count),
    [4, 4, 4, 4],
  );
  recorder.onBatchAccepted();
  recorder.record(recordedCall(), true);
  assert.equal(batches().length, 5);
  recorder.close();
  const dropped = reports.reduce((sum, { metrics: measures }) => sum + (measures?.dropped ?? 0), 0);
  assert.equal(dropped, 76);
  assert.equal(batches().reduce((sum, { count }) => sum + count, 0) + dropped, 101);
});

test('client-supplied texts are truncated to a bound', () => {
  const found = recordOne(recordedCall({ innerPath: `/${'a'.repeat(5000)}` }, ['User-Agent', 'b'.repeat(5000)]))!;
  assert.deepEqual([found.path.length, found.user_agent.length], [1024, 1024]);
});

test('uptime results are posted with reports, wait while batches are unacknowledged, and are bounded', () => {
  const { recorder, reports } = openRecorder();
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
