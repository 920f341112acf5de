import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { groupSpans, toAttributes } from '../../../tests/support/otlp.ts';
import { createTracedCall, openTracer } from '../../../tests/support/tracer.ts';
import type { Exchange } from '../pipeline/exchange.ts';

describe('Request spans', () => {
  test('a retry has a span and a span id of its own, which the upstream gets', () => {
    const { tracer, readSpans } = openTracer();
    const call = createTracedCall();
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
    const call = createTracedCall([], { sign: () => undefined });
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
      const call = createTracedCall(['User-Agent', 'x'.repeat(2000), 'Authorization', 'canary'], { versionName: 'v1' });
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
      const call = createTracedCall([], { target, ...given });
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
    const call = createTracedCall([], { method: 'BREW', status: 504, errorCode: 'upstream_timeout' });
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
    const call = createTracedCall();
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
      const call = createTracedCall([...agent]);
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
