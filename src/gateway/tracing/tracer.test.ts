import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLog } from '#base/log.ts';
import { createFrame, describeSource, traceSignal } from '#base/otlp/resource.ts';
import { readSettings, type SettingName } from '#base/settings.ts';
import { decodeMessage, groupSpans, listSpans, toAttributes } from '../../../tests/support/otlp.ts';
import { noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { Exchange } from '../pipeline/exchange.ts';
import type { Api } from '../routing/api.ts';
import { validateTrafficSettings } from '../runtime/validate-settings.ts';
import type { SpanReport } from './request-tracer.ts';
import { createTracer } from './tracer.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const span = 'b7ad6b7169203331';
const frame = createFrame('protobuf', traceSignal, describeSource({ serviceName: 's', version: 'v', instanceId: 'i' }));

function openTracer(settings: Partial<Record<SettingName, string>> = {}) {
  const reports: SpanReport[] = [];
  const tracer = createTracer({
    settings: readSettings({
      flags: { 'tracing.endpoint': 'http://127.0.0.1:1', 'tracing.interval_ms': '60000', ...settings },
    }),
    log: createLog({ level: 'error', format: 'json' }),
    redact: text => text.replaceAll('hidden', '********'),
    listCredentialParameters: () => ['custom'],
    port: { postMessage: report => reports.push(report) },
  })!;
  /** Ends the tracer; returns the spans that it reported. */
  function readSpans() {
    tracer.close();
    return reports.flatMap(({ bytes }) => listSpans(decodeMessage('ExportTraceServiceRequest', frame([bytes]))));
  }
  return { tracer, reports, readSpans };
}

function createCall(headers: string[] = [], more: Partial<Exchange> & { isTrusted?: boolean } = {}): Exchange {
  const { isTrusted = false, ...rest } = more;
  const call = new Exchange({
    method: rest.method ?? 'GET',
    target: '/orders/1?token=canary',
    path: '/orders/1',
    query: 'token=canary',
    host: 'localhost',
    headers: new HeaderList(headers),
    body: noBody(),
    peer: { address: '127.0.0.1', isTls: false, serverName: '', certificate: undefined, isTrusted },
    clientAddress: '10.0.0.7',
    receivedAtMs: Date.UTC(2026, 1, 3, 12),
    startedAt: performance.now(),
  });
  const api = { id: 'orders', orgId: 'org', name: 'Orders', listenPath: '/orders/' } as Api;
  return Object.assign(call, { api, listenPath: '/orders/', status: 200 }, rest);
}

/** Runs a request without an upstream; true when its trace was exported. */
function isExported(settings: Partial<Record<SettingName, string>>, call: Exchange): boolean {
  const { tracer, readSpans } = openTracer(settings);
  tracer.begin(call);
  tracer.finish(call, true);
  return readSpans().length > 0;
}

/** Trace headers that the upstream gets, and the trace id. */
function propagate(settings: Partial<Record<SettingName, string>>, headers: string[], isTrusted = false) {
  const call = createCall(headers, { isTrusted });
  const { tracer } = openTracer(settings);
  tracer.begin(call);
  tracer.close();
  const sent = Object.fromEntries([...call.headers].map(([name, value]) => [name.toLowerCase(), value]));
  return { traceId: call.traceId, sent };
}

describe('Trace propagation', () => {
  test('without a collector there is no tracer', () => {
    const log = createLog({ level: 'error', format: 'json' });
    assert.equal(
      createTracer({
        settings: readSettings({}),
        log,
        redact: text => text,
        listCredentialParameters: () => [],
        port: { postMessage: () => undefined },
      }),
      undefined,
    );
  });

  test('W3C and both forms of B3 are continued', () => {
    const sources: readonly string[][] = [
      ['Traceparent', `00-${trace}-${span}-01`],
      ['traceparent', `01-${trace}-${span}-01-more`],
      ['b3', `${trace}-${span}-1`],
      ['B3', `${trace}-${span}-d-00f067aa0ba902b7`],
      ['X-B3-TraceId', trace, 'X-B3-SpanId', span, 'X-B3-Sampled', '1'],
      ['x-b3-traceid', trace, 'x-b3-spanid', span, 'x-b3-flags', '1'],
    ];
    for (const headers of sources) {
      const { traceId, sent } = propagate({}, headers);
      assert.equal(traceId, trace, headers.join());
      assert.match(sent.traceparent!, new RegExp(`^00-${trace}-(?!${span})[0-9a-f]{16}-01$`), headers.join());
    }
    assert.equal(propagate({}, ['b3', `${trace.slice(16)}-${span}-1`]).traceId, trace.slice(16).padStart(32, '0'));
  });

  test('an invalid context begins a new trace, and the headers of the client are removed', () => {
    const invalid: readonly string[][] = [
      ['traceparent', `00-${trace}-${span}-01-more`],
      ['traceparent', `ff-${trace}-${span}-01`],
      ['traceparent', `00-${trace.toUpperCase()}-${span}-01`],
      ['traceparent', `00-${'0'.repeat(32)}-${span}-01`],
      ['traceparent', `00-${trace}-${span}-01`, 'traceparent', `00-${trace}-${span}-01`],
      ['b3', '1'],
      ['b3', `${trace}-${span}-2`],
      ['X-B3-TraceId', trace],
      ['X-B3-TraceId', trace, 'X-B3-SpanId', span, 'X-B3-Sampled', 'maybe'],
    ];
    for (const headers of invalid) {
      const { traceId, sent } = propagate({}, [...headers, 'tracestate', 'a=b']);
      assert.match(traceId, /^[0-9a-f]{32}$/);
      assert.notEqual(traceId, trace, headers.join());
      assert.deepEqual(Object.keys(sent), ['traceparent'], headers.join());
    }
  });

  test('tracestate is forwarded with its trace, and removed where it is too long or not ASCII', () => {
    const send = (state: string) =>
      propagate({}, ['traceparent', `00-${trace}-${span}-01`, 'tracestate', state]).sent.tracestate;
    assert.equal(send('a=b,c=d'), 'a=b,c=d');
    assert.equal(send(`a=${'b'.repeat(511)}`), undefined);
    assert.equal(send('a=é'), undefined);
  });

  test('tracing.trust: only trusted clients are continued, others begin a new trace', () => {
    const headers = () => ['traceparent', `00-${trace}-${span}-01`, 'b3', `${trace}-${span}-1`, 'tracestate', 'a=b'];
    for (const [trust, isTrusted, isContinued] of [
      ['always', false, true],
      ['trusted_proxies', true, true],
      ['trusted_proxies', false, false],
      ['never', true, false],
    ] as const) {
      const { traceId, sent } = propagate({ 'tracing.trust': trust }, headers(), isTrusted);
      assert.equal(traceId === trace, isContinued, `${trust} ${isTrusted}`);
      assert.deepEqual([sent.tracestate, sent.b3 !== undefined], isContinued ? ['a=b', true] : [undefined, false]);
    }
  });

  test('tracing.propagation: the upstream gets the headers of the setting', () => {
    const { sent } = propagate(
      { 'tracing.propagation': 'b3,b3multi' },
      ['traceparent', `00-${trace}-${span}-00`],
      true,
    );
    assert.match(sent.b3!, new RegExp(`^${trace}-[0-9a-f]{16}-0-[0-9a-f]{16}$`));
    assert.deepEqual([sent['x-b3-traceid'], sent['x-b3-sampled']], [trace, '0']);
    assert.deepEqual(
      [sent['x-b3-spanid'], sent['x-b3-parentspanid']],
      [sent.b3!.split('-')[1], sent.b3!.split('-')[3]],
    );
    for (const invalid of ['', 'w3c,zipkin'])
      assert.throws(
        () => readSettings({ flags: { 'tracing.propagation': invalid } }),
        /tracing\.propagation .*must hold one or more of w3c, b3, b3multi/,
      );
  });
});

describe('Trace sampling', () => {
  const parent = (flag: '00' | '01', { random = trace.slice(18), isTrusted = false, status = 200 } = {}) =>
    createCall(['traceparent', `00-${trace.slice(0, 18)}${random}-${span}-${flag}`], { isTrusted, status });

  test('tracing.sample_share: the share of new traces, and none of those that a trusted client has not sampled', () => {
    let exported = 0;
    for (let i = 0; i < 400; i++) if (isExported({ 'tracing.sample_share': '0.25' }, createCall())) exported++;
    assert.ok(exported > 40 && exported < 160, String(exported));
    assert.equal(isExported({ 'tracing.sample_share': '0' }, createCall()), false);
    assert.equal(isExported({}, parent('00', { isTrusted: true })), false);
    for (const invalid of ['2', '-1', 'x', ''])
      assert.throws(() => readSettings({ flags: { 'tracing.sample_share': invalid } }), /must be a number from 0 to 1/);
  });

  test('the decision by share depends on the lower half of the trace id, where it is of a trusted client', () => {
    const settings = { 'tracing.sample_share': '0.5' };
    const send = (random: string) =>
      isExported(settings, createCall(['b3', `${trace.slice(0, 18)}${random}-${span}`], { isTrusted: true }));
    assert.equal(send('ffffffff000000'), true);
    assert.equal(send('80000000000000'), true);
    assert.equal(send('7fffffffffffff'), false);
  });

  test('tracing.max_parent_sampled_per_second bounds the traces that clients select', () => {
    const { tracer, readSpans } = openTracer({
      'tracing.sample_share': '0',
      'tracing.max_parent_sampled_per_second': '3',
    });
    const startedAt = performance.now();
    for (let i = 0; i < 10; i++) {
      const call = Object.assign(parent('01'), { startedAt });
      tracer.begin(call);
      // The upstream gets the decision of the gateway.
      assert.equal(call.headers.get('traceparent')!.endsWith('-01'), i < 3);
      tracer.finish(call, true);
    }
    assert.equal(readSpans().length, 3);
  });

  test('traces that untrusted clients select leave the bound of trusted ones untouched', () => {
    const { tracer, readSpans } = openTracer({
      'tracing.sample_share': '0',
      'tracing.max_parent_sampled_per_second': '2',
    });
    const startedAt = performance.now();
    for (const isTrusted of [false, false, false, true, true, true]) {
      const call = Object.assign(createCall(['traceparent', `00-${trace}-${span}-01`], { isTrusted }), { startedAt });
      tracer.begin(call);
      tracer.finish(call, true);
    }
    assert.equal(readSpans().length, 4);
  });

  test('an untrusted client does not decide on the export by its trace id', () => {
    const selected = { random: 'ffffffffffffff' };
    const share = { 'tracing.sample_share': '0.001', 'tracing.max_parent_sampled_per_second': '1' };
    const rules = [
      { path: '/orders', share: 0.001 },
      { api: 'orders', share: 0.001 },
      { status: 200, share: 0.001 },
    ];
    for (const rule of [undefined, ...rules]) {
      const { tracer, readSpans } = openTracer({ ...share, 'tracing.rules': JSON.stringify(rule ? [rule] : []) });
      const startedAt = performance.now();
      for (let i = 0; i < 1000; i++) {
        const call = Object.assign(parent('01', selected), { startedAt });
        tracer.begin(call);
        assert.equal(call.traceId.slice(18), selected.random, 'the trace is continued');
        call.trace!.startAttempt(call, { origin: 'http://u:80', path: '/', method: 'GET', headers: [] });
        tracer.finish(call, true);
      }
      const servers = readSpans().filter(it => it.kind === 2);
      assert.ok(servers.length < 50, `${servers.length} of 1000 with ${JSON.stringify(rule)}`);
    }
  });

  test('an untrusted client does not keep its requests out by the flag of its trace', () => {
    assert.equal(isExported({}, parent('00')), true);
    assert.equal(isExported({ 'tracing.sample_share': '0' }, parent('00')), false);
    const rules = JSON.stringify([{ status: 404, share: 0.5 }]);
    let exported = 0;
    for (let i = 0; i < 200; i++)
      if (
        isExported(
          { 'tracing.sample_share': '0', 'tracing.rules': rules },
          parent('00', { random: '0'.repeat(14), status: 404 }),
        )
      )
        exported++;
    assert.ok(exported > 40 && exported < 160, String(exported));
  });

  test('tracing.errors: responses with 500 or more are exported whatever the share', () => {
    const settings = { 'tracing.sample_share': '0', 'tracing.errors': 'true' };
    assert.equal(isExported(settings, createCall([], { status: 500 })), true);
    assert.equal(isExported(settings, createCall([], { status: 404 })), false);
    assert.equal(isExported({ 'tracing.sample_share': '0' }, createCall([], { status: 500 })), false);
  });

  test('tracing.rules: by path at the start, by API once it is routed, by status and duration at the end', () => {
    const exports = (rules: object[], call: Exchange, share = '0') =>
      isExported({ 'tracing.sample_share': share, 'tracing.rules': JSON.stringify(rules) }, call);
    assert.equal(exports([{ path: '/orders' }], createCall()), true);
    assert.equal(exports([{ path: '/other' }], createCall()), false);
    assert.equal(exports([{ path: '/orders', share: 0 }], createCall(), '1'), false);
    assert.equal(exports([{ path: '/orders', share: 0 }, { path: '/' }], createCall(), '0'), false);
    assert.equal(exports([{ status: 404 }], createCall([], { status: 404 })), true);
    assert.equal(exports([{ status: '4xx', api: 'orders' }], createCall([], { status: 403 })), true);
    assert.equal(exports([{ status: '4xx', api: 'other' }], createCall([], { status: 403 })), false);
    assert.equal(exports([{ min_duration_ms: 5000 }], createCall([], { startedAt: performance.now() - 6000 })), true);
    assert.equal(exports([{ min_duration_ms: 60_000 }], createCall()), false);
    assert.equal(exports([{ status: 200, share: 0 }], createCall()), false);
  });

  test('a rule with an API decides before the upstream gets the flag', () => {
    const rules = JSON.stringify([{ api: 'orders', share: 0 }]);
    const { tracer, readSpans } = openTracer({ 'tracing.rules': rules });
    const call = createCall();
    tracer.begin(call);
    const headers = [...call.headers.flat];
    call.trace!.startAttempt(call, { origin: 'http://u:80', path: '/', method: 'GET', headers });
    assert.match(headers[1]!, /-00$/);
    tracer.finish(call, true);
    assert.deepEqual(readSpans(), []);
  });

  test('invalid rules are refused with their number', () => {
    for (const [rule, reason] of [
      [{ pth: '/' }, 'unknown member pth'],
      [{ path: 'x' }, 'path must begin with a slash'],
      [{ api: 1 }, 'api must be the id of an API'],
      [{ status: '6xx' }, 'status must be a status such as 404, or a class such as 5xx'],
      [{ min_duration_ms: -1 }, 'min_duration_ms must be a number of milliseconds'],
      [{ share: 2 }, 'share must be from 0 to 1'],
    ] as const) {
      const settings = readSettings({ flags: { 'tracing.rules': JSON.stringify([{}, rule]) } });
      assert.throws(() => validateTrafficSettings(settings), { message: `tracing.rules: rule 2: ${reason}` });
    }
    assert.throws(() => readSettings({ flags: { 'tracing.rules': '{}' } }), /must be a list of objects/);
  });
});

describe('Request spans', () => {
  test('a retry has a span and a span id of its own, which the upstream gets', () => {
    const { tracer, readSpans } = openTracer();
    const call = createCall();
    tracer.begin(call);
    const attempt = {
      origin: 'https://u.example',
      path: '/hidden/1?key=canary',
      method: 'GET',
      headers: call.headers.flat,
    };
    call.upstreamStartedAt = performance.now();
    call.trace!.startAttempt(call, attempt);
    const first = call.headers.get('traceparent')!.split('-')[2];
    call.trace!.failAttempt('connection_reset');
    call.trace!.startAttempt(call, attempt);
    const second = call.headers.get('traceparent')!.split('-')[2];
    call.trace!.receiveHead(200);
    tracer.finish(call, true);
    const { server, clients } = groupSpans(readSpans(), call.traceId);
    assert.deepEqual(
      clients.map(it => it.spanId),
      [first, second],
    );
    assert.ok(clients.every(it => it.parentSpanId === server!.spanId));
    const [failed, last] = clients.map(it => toAttributes(it.attributes));
    const target = {
      'http.request.method': 'GET',
      'server.address': 'u.example',
      'server.port': 443,
      'url.full': 'https://u.example/********/1',
    };
    assert.deepEqual(failed, { ...target, 'error.type': 'connection_reset' });
    assert.deepEqual(last, { ...target, 'http.request.resend_count': 1, 'http.response.status_code': 200 });
    assert.deepEqual(
      clients.map(it => it.status?.code),
      [2, undefined],
    );
  });

  test('a signed request keeps its headers on a retry, and no two spans share an id', () => {
    const { tracer, readSpans } = openTracer();
    const call = createCall([], { sign: () => undefined });
    tracer.begin(call);
    const before = call.headers.get('traceparent');
    const attempt = { origin: 'http://u', path: '/', method: 'GET', headers: call.headers.flat };
    call.trace!.startAttempt(call, attempt);
    call.trace!.failAttempt('connection_reset');
    call.trace!.startAttempt(call, attempt);
    assert.equal(call.headers.get('traceparent'), before);
    tracer.finish(call, true);
    const ids = readSpans().map(it => it.spanId);
    assert.equal(new Set(ids).size, 3);
    assert.ok(ids.includes(before!.split('-')[2]!));
  });

  test('the server span has the request without its query, and with it where the setting allows it', () => {
    for (const recordsQuery of [false, true]) {
      const { tracer, readSpans } = openTracer({ 'tracing.record_query': String(recordsQuery) });
      const call = createCall(['User-Agent', 'x'.repeat(2000), 'Authorization', 'canary'], { versionName: 'v1' });
      tracer.begin(call);
      tracer.finish(call, true);
      const [only] = readSpans();
      const { 'user_agent.original': agent, ...attributes } = toAttributes(only!.attributes);
      assert.equal(String(agent).length, 1024);
      assert.deepEqual(attributes, {
        'http.request.method': 'GET',
        'url.path': '/orders/1',
        'url.scheme': 'http',
        'server.address': 'localhost',
        'client.address': '10.0.0.7',
        'http.response.status_code': 200,
        ...(recordsQuery ? { 'url.query': 'token=***' } : {}),
        'http.route': '/orders/',
        'gw.api.id': 'orders',
        'gw.api.name': 'Orders',
        'gw.org.id': 'org',
        'gw.api.version': 'v1',
      });
      assert.deepEqual([only!.name, only!.kind, only!.parentSpanId], ['GET /orders/', 2, undefined]);
    }
  });

  test('a recorded query has no credentials: of the API, by name, of definitions, and of loops', () => {
    const readQuery = (given: Partial<Exchange>) => {
      const { tracer, readSpans } = openTracer({ 'tracing.record_query': 'true' });
      const target = '/orders/1?page=2&custom=canary&c%75stom=canary&Password=canary&%ff=canary&q=hidden';
      const call = createCall([], { target, ...given });
      tracer.begin(call);
      tracer.finish(call, true);
      return toAttributes(readSpans()[0]!.attributes)['url.query'];
    };
    assert.equal(readQuery({}), 'page=2&custom=***&custom=***&Password=***&***&q=********');
    assert.equal(readQuery({ loopCount: 1 }), undefined);
    assert.equal(readQuery({ versionHops: 1 }), undefined);
    assert.equal(readQuery({ api: undefined }), undefined);
  });

  test('a method outside the conventions is _OTHER, and an error has its type', () => {
    const { tracer, readSpans } = openTracer();
    const call = createCall([], { method: 'BREW', status: 504, errorCode: 'upstream_timeout' });
    tracer.begin(call);
    call.trace!.startAttempt(call, { origin: 'http://u', path: '/', method: 'BREW', headers: [] });
    tracer.finish(call, true);
    const { server, clients } = groupSpans(readSpans(), call.traceId);
    const attributes = toAttributes(server!.attributes);
    assert.deepEqual([server!.name, server!.status], ['HTTP /orders/', { code: 2 }]);
    assert.deepEqual(
      [attributes['http.request.method'], attributes['http.request.method_original']],
      ['_OTHER', 'BREW'],
    );
    assert.deepEqual([attributes['error.type'], attributes['gw.refusal']], ['upstream_timeout', 'upstream_timeout']);
    assert.equal(toAttributes(clients[0]!.attributes)['error.type'], 'upstream_timeout');
  });

  test('step spans of one trace are bounded', () => {
    const { tracer, readSpans } = openTracer();
    const call = createCall();
    tracer.begin(call);
    for (let i = 0; i < 500; i++) call.trace!.addStep('jwt', performance.now(), performance.now());
    tracer.finish(call, true);
    const { steps, server } = groupSpans(readSpans(), call.traceId);
    assert.equal(steps.length, 100);
    assert.deepEqual([steps[0]!.name, steps[0]!.parentSpanId], ['step jwt', server!.spanId]);
  });

  test('spans are dropped and counted while the main thread does not accept reports', () => {
    const { tracer, reports, readSpans } = openTracer();
    const agent = ['User-Agent', 'x'.repeat(1024)];
    for (let i = 0; i < 2000; i++) {
      const call = createCall([...agent]);
      tracer.begin(call);
      tracer.finish(call, true);
    }
    assert.equal(reports.length, 4);
    const exported = readSpans().length;
    const dropped = reports.reduce((sum, report) => sum + report.dropped, 0);
    assert.ok(dropped > 0);
    assert.equal(exported + dropped, 2000);
  });
});
