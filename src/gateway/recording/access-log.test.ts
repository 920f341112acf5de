import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { createLog } from '#base/log.ts';
import { readSettings, type SettingName } from '#base/settings.ts';
import { classicToModel } from '#definition/model.ts';
import { bodyFromBytes, noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { createResponse } from '../http/response.ts';
import { Exchange } from '../pipeline/exchange.ts';
import { createAccessLog } from './access-log.ts';
import { createAccessLogFormat } from './access-log-line.ts';
import { ApiAnalytics } from './api-analytics.ts';

const createFormat = (settings: Partial<Record<SettingName, string>> = {}) =>
  createAccessLogFormat({
    settings: readSettings({ flags: settings }),
    redact: text => text.replaceAll('definition-secret', '********'),
  });

const createApi = (definition: Record<string, unknown> = {}) =>
  new ApiAnalytics({
    id: 'orders',
    orgId: 'org',
    name: 'Orders "2"',
    listenPath: '/orders/',
    model: classicToModel({ name: 'Orders', api_id: 'orders', proxy: { listen_path: '/orders/' }, ...definition }),
  });

function createCall(given: Partial<Exchange> = {}, headers: string[] = []): Exchange {
  const target = given.target ?? '/orders/1?token=hidden';
  const call = new Exchange({
    method: 'GET',
    target,
    path: '/orders/1',
    query: target.split('?')[1] ?? '',
    host: 'localhost',
    headers: new HeaderList(headers),
    body: given.body ?? noBody(),
    peer: { address: '127.0.0.1', isTls: false, serverName: '', certificate: undefined },
    clientAddress: '10.0.0.7',
    receivedAtMs: Date.UTC(2026, 1, 3, 12, 0, 5, 42),
    startedAt: 0,
  });
  const { body: _body, target: _target, ...rest } = given;
  return Object.assign(call, { requestId: 'id-1' }, rest);
}

const outcome = { status: 200, totalMs: 12.34567, refusal: '' };
const isAsciiLine = (line: string) => /^[\x20-\x7e]*\n$/.test(line);

describe('Access log lines', () => {
  test('a JSON line has time, id, client, target, sizes, durations, API, key and upstream, and no empty member', () => {
    const call = createCall(
      {
        keyHash: 'abcd1234',
        keyId: 'the-key',
        versionName: 'v2',
        upstreamMs: 10.3,
        upstreamOrigin: 'http://definition-secret:80',
        responseBytes: 7,
        upstreamFailure: { reason: 'tls_failed', detail: 'the certificate of definition-secret has expired' },
        traceId: '0af7651916cd43dd8448eb211c80319c',
      },
      ['User-Agent', 'curl/8', 'Referer', 'https://me:pw@a.example/page?session=1#x', 'Authorization', 'the-key'],
    );
    const line = createFormat().formatRequest(call, createApi(), outcome);
    assert.deepEqual(JSON.parse(line), {
      time: '2026-02-03T12:00:05.042Z',
      request_id: 'id-1',
      client_address: '10.0.0.7',
      method: 'GET',
      host: 'localhost',
      path: '/orders/1',
      protocol: 'HTTP/1.1',
      status: 200,
      bytes_in: 0,
      bytes_out: 7,
      duration_ms: 12.346,
      upstream_ms: 10.3,
      gateway_ms: 2.046,
      api_id: 'orders',
      api_name: 'Orders "2"',
      org_id: 'org',
      api_version: 'v2',
      key_hash: 'abcd1234',
      upstream_address: 'http://********:80',
      upstream_error: 'tls_failed: the certificate of ******** has expired',
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      user_agent: 'curl/8',
      referer: 'https://a.example/page',
    });
    const bare = JSON.parse(
      createFormat().formatRequest(createCall(), undefined, { ...outcome, refusal: 'route_unknown' }),
    );
    assert.equal(bare.refusal, 'route_unknown');
    for (const name of ['api_id', 'key_hash', 'alias', 'upstream_address', 'user_agent'])
      assert.ok(!(name in bare), name);
  });

  test('a combined line has the fields of NCSA and the seconds of the request', () => {
    const format = createFormat({ 'access_log.format': 'combined' });
    const call = createCall({ keyHash: 'abcd1234', responseBytes: 7 }, ['User-Agent', 'curl/8']);
    assert.equal(
      format.formatRequest(call, createApi(), outcome),
      '10.0.0.7 - abcd1234 [03/Feb/2026:12:00:05 +0000] "GET /orders/1 HTTP/1.1" 200 7 "-" "curl/8" 0.012346\n',
    );
    assert.match(format.formatRequest(createCall(), undefined, outcome), /^10\.0\.0\.7 - - \[/);
  });

  const hostile = 'a"b\\c\r\nGET\t/\u001b[2J\u0085\u00ff \u2028\u202e\ud800';

  test('client texts cannot end a line, a string or a field, nor move a terminal’s cursor', () => {
    const call = createCall({ target: `/x${hostile}`, keyHash: hostile }, ['User-Agent', hostile, 'Referer', hostile]);
    const json = createFormat().formatRequest(call, createApi(), outcome);
    assert.ok(isAsciiLine(json), json);
    const parsed = JSON.parse(json);
    assert.deepEqual([parsed.user_agent, parsed.key_hash, parsed.path], [hostile, hostile, `/x${hostile}`]);
    const combined = createFormat({ 'access_log.format': 'combined' });
    const line = combined.formatRequest(call, createApi(), outcome);
    assert.ok(isAsciiLine(line), line);
    // Quotes only around the three quoted fields.
    assert.equal(line.split('"').length, 7);
    assert.match(
      line,
      / "a\\x22b\\x5Cc\\x0D\\x0AGET\\x09\/\\x1B\[2J\\x85\\xFF \\xE2\\x80\\xA8\\xE2\\x80\\xAE\\xEF\\xBF\\xBD" 0\.012346\n$/,
    );
    assert.match(line, /^10\.0\.0\.7 - a\\x22b\\x5Cc\\x0D\\x0AGET\\x09\/\\x1B\[2J\\x85\\xFF\\x20\S+ \[/);
  });

  test('client texts are bounded', () => {
    const long = 'x'.repeat(100_000);
    const call = createCall({ target: `/${long}` }, ['User-Agent', long, 'Referer', long]);
    assert.ok(createFormat().formatRequest(call, createApi(), outcome).length < 5000);
  });

  test('an invalid request has a line with what could be parsed', () => {
    const peer = { address: '10.0.0.9', isTls: false, serverName: '', certificate: undefined };
    const at = Date.UTC(2026, 1, 3, 12);
    const request = { peer, protocol: 'HTTP/1.1', status: 400, fault: 'the method is not a token' };
    const parsed = { ...request, method: 'G"T', target: 'http://me:pw@x/a?key=1' };
    const unparsed = { ...request, method: undefined, target: undefined };
    const json = createFormat();
    assert.deepEqual(JSON.parse(json.formatInvalid(parsed, at)), {
      time: '2026-02-03T12:00:00.000Z',
      client_address: '10.0.0.9',
      method: 'G"T',
      path: 'http://x/a',
      protocol: 'HTTP/1.1',
      status: 400,
      reason: 'the method is not a token',
    });
    assert.equal('method' in JSON.parse(json.formatInvalid(unparsed, at)), false);
    const combined = createFormat({ 'access_log.format': 'combined' });
    assert.equal(
      combined.formatInvalid(unparsed, at),
      '10.0.0.9 - - [03/Feb/2026:12:00:00 +0000] "-" 400 0 "-" "-" 0.000000\n',
    );
    assert.match(combined.formatInvalid(parsed, at), / "G\\x22T http:\/\/x\/a HTTP\/1\.1" 400 /);
  });

  test('a query is logged on request only, without credentials of the API and conventional ones', () => {
    const api = createApi({
      use_standard_auth: true,
      auth_configs: { authToken: { use_param: true, param_name: 'custom' } },
    });
    const target =
      '/orders/1?page=2&custom=s1&c%75stom=s2&access_token=s3&Password=s4&api_key=s5&%ff=s6&q=definition-secret';
    const path = (settings: Partial<Record<SettingName, string>>, given: Partial<Exchange> = {}) =>
      JSON.parse(createFormat(settings).formatRequest(createCall({ target, ...given }), api, outcome)).path;
    assert.equal(path({}), '/orders/1');
    const asked = { 'access_log.query': 'true' } as const;
    assert.equal(
      path(asked),
      '/orders/1?page=2&custom=***&custom=***&access_token=***&Password=***&api_key=***&***&q=********',
    );
    // Another API read credentials before, from parameters of other names; without an API they are not defined.
    assert.equal(path(asked, { loopCount: 1 }), '/orders/1');
    const unrouted = createFormat(asked).formatRequest(createCall({ target }), undefined, outcome);
    assert.equal(JSON.parse(unrouted).path, '/orders/1');
  });

  test('bodies are logged on request only, bounded, with credentials masked', () => {
    const body = bodyFromBytes(
      Buffer.from(
        '{"user":"ada","password":"s1\\"s1","nested":{"client_secret" : "s2","n":1},"pin":1234,"q":"definition-secret"}',
      ),
    );
    const response = createResponse(200);
    response.body = bodyFromBytes(Buffer.from('grant_type=password&access_token=s3&x=1'));
    const call = createCall({ body, response });
    const read = (settings: Partial<Record<SettingName, string>>, of = createApi(), it = call) =>
      JSON.parse(createFormat(settings).formatRequest(it, of, outcome));
    assert.equal('request_body' in read({}), false);
    const asked = { 'access_log.bodies': 'true' } as const;
    const { request_body, response_body } = read(asked);
    assert.equal(
      request_body,
      '{"user":"ada","password":"***","nested":{"client_secret" : "***","n":1},"pin":"***","q":"********"}',
    );
    assert.equal(response_body, 'grant_type=password&access_token=***&x=1');
    assert.equal(read({ ...asked, 'access_log.max_body_bytes': '14' }).request_body, '{"user":"ada",');
    const cut = createCall({ body: bodyFromBytes(Buffer.from('{"password":"sssssssssss"}')) });
    assert.doesNotMatch(read({ ...asked, 'access_log.max_body_bytes': '16' }, createApi(), cut).request_body, /sss/);
    const basic = createApi({ use_basic_auth: true, basic_auth: { extract_from_body: true } });
    assert.equal('request_body' in read(asked, basic), false);
    assert.equal('request_body' in read(asked, createApi(), createCall({ body, isRecorded: false })), false);
  });
});

describe('Access log', () => {
  async function collectStatuses(settings: Partial<Record<SettingName, string>>, statuses: readonly number[]) {
    const directory = mkdtempSync(join(tmpdir(), 'gw-access-log-'));
    const file = join(directory, 'access.log');
    const accessLog = (await createAccessLog({
      settings: readSettings({ flags: { 'access_log.output': 'file', 'access_log.file': file, ...settings } }),
      clock: systemClock,
      log: createLog({ level: 'error', format: 'json' }),
      redact: text => text,
    }))!;
    for (const status of statuses) accessLog.write(createCall(), undefined, { ...outcome, status });
    const counts = accessLog.drainCounts();
    await accessLog.close();
    const lines = readFileSync(file, 'latin1').split('\n').slice(0, -1);
    rmSync(directory, { recursive: true });
    return { counts, logged: lines.map(line => JSON.parse(line).status as number) };
  }
  const hundred = (status: number) => Array.from({ length: 100 }, () => status);

  test('a sample has exactly its share of requests, and all failed ones unless they are sampled too', async () => {
    const share = { 'access_log.sample_share': '0.025' } as const;
    const all = [...hundred(200), ...hundred(503), ...hundred(200)];
    const { logged, counts } = await collectStatuses(share, all);
    assert.deepEqual([logged.filter(it => it === 200).length, logged.filter(it => it === 503).length], [5, 100]);
    assert.deepEqual(counts, { accepted: 105, dropped: 0, failed: 0 });
    const sampled = await collectStatuses({ ...share, 'access_log.errors': 'false' }, hundred(503));
    assert.equal(sampled.logged.length, 2);
    assert.deepEqual((await collectStatuses({ 'access_log.sample_share': '0' }, hundred(200))).counts, undefined);
  });

  test('lines beyond the buffer are dropped and counted', async () => {
    const { logged, counts } = await collectStatuses(
      { 'access_log.max_buffer_bytes': '65536' },
      Array.from({ length: 1000 }, () => 200),
    );
    assert.ok(counts!.dropped > 0);
    assert.equal(logged.length, counts!.accepted);
    assert.equal(counts!.accepted + counts!.dropped, 1000);
  });
});
