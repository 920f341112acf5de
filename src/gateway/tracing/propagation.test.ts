import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLog } from '#base/log.ts';
import { readSettings } from '#base/settings.ts';
import { parentSpanId, parentTraceId, propagate } from '../../../tests/support/tracer.ts';
import { createTracer } from './tracer.ts';

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
      ['Traceparent', `00-${parentTraceId}-${parentSpanId}-01`],
      ['traceparent', `01-${parentTraceId}-${parentSpanId}-01-more`],
      ['b3', `${parentTraceId}-${parentSpanId}-1`],
      ['B3', `${parentTraceId}-${parentSpanId}-d-00f067aa0ba902b7`],
      ['X-B3-TraceId', parentTraceId, 'X-B3-SpanId', parentSpanId, 'X-B3-Sampled', '1'],
      ['x-b3-traceid', parentTraceId, 'x-b3-spanid', parentSpanId, 'x-b3-flags', '1'],
    ];
    for (const headers of sources) {
      const { traceId, sent } = propagate({}, headers);
      assert.equal(traceId, parentTraceId, headers.join());
      assert.match(
        sent.traceparent!,
        new RegExp(`^00-${parentTraceId}-(?!${parentSpanId})[0-9a-f]{16}-01$`),
        headers.join(),
      );
    }
    assert.equal(
      propagate({}, ['b3', `${parentTraceId.slice(16)}-${parentSpanId}-1`]).traceId,
      parentTraceId.slice(16).padStart(32, '0'),
    );
  });

  test('an invalid context begins a new parentTraceId, and the headers of the client are removed', () => {
    const invalid: readonly string[][] = [
      ['traceparent', `00-${parentTraceId}-${parentSpanId}-01-more`],
      ['traceparent', `ff-${parentTraceId}-${parentSpanId}-01`],
      ['traceparent', `00-${parentTraceId.toUpperCase()}-${parentSpanId}-01`],
      ['traceparent', `00-${'0'.repeat(32)}-${parentSpanId}-01`],
      [
        'traceparent',
        `00-${parentTraceId}-${parentSpanId}-01`,
        'traceparent',
        `00-${parentTraceId}-${parentSpanId}-01`,
      ],
      ['b3', '1'],
      ['b3', `${parentTraceId}-${parentSpanId}-2`],
      ['X-B3-TraceId', parentTraceId],
      ['X-B3-TraceId', parentTraceId, 'X-B3-SpanId', parentSpanId, 'X-B3-Sampled', 'maybe'],
    ];
    for (const headers of invalid) {
      const { traceId, sent } = propagate({}, [...headers, 'tracestate', 'a=b']);
      assert.match(traceId, /^[0-9a-f]{32}$/);
      assert.notEqual(traceId, parentTraceId, headers.join());
      assert.deepEqual(Object.keys(sent), ['traceparent'], headers.join());
    }
  });

  test('tracestate is forwarded with its parentTraceId, and removed where it is too long or not ASCII', () => {
    const send = (state: string) =>
      propagate({}, ['traceparent', `00-${parentTraceId}-${parentSpanId}-01`, 'tracestate', state]).sent.tracestate;
    assert.equal(send('a=b,c=d'), 'a=b,c=d');
    assert.equal(send(`a=${'b'.repeat(511)}`), undefined);
    assert.equal(send('a=é'), undefined);
  });

  test('tracing.trust: only trusted clients are continued, others begin a new trace', () => {
    const headers = () => [
      'traceparent',
      `00-${parentTraceId}-${parentSpanId}-01`,
      'b3',
      `${parentTraceId}-${parentSpanId}-1`,
      'tracestate',
      'a=b',
    ];
    for (const [trust, isTrusted, isContinued] of [
      ['always', false, true],
      ['trusted_proxies', true, true],
      ['trusted_proxies', false, false],
      ['never', true, false],
    ] as const) {
      const { traceId, sent } = propagate({ 'tracing.trust': trust }, headers(), isTrusted);
      assert.equal(traceId === parentTraceId, isContinued, `${trust} ${isTrusted}`);
      assert.deepEqual([sent.tracestate, sent.b3 !== undefined], isContinued ? ['a=b', true] : [undefined, false]);
    }
  });

  test('tracing.propagation: the upstream gets the headers of the setting', () => {
    const { sent } = propagate(
      { 'tracing.propagation': 'b3,b3multi' },
      ['traceparent', `00-${parentTraceId}-${parentSpanId}-00`],
      true,
    );
    assert.match(sent.b3!, new RegExp(`^${parentTraceId}-[0-9a-f]{16}-0-[0-9a-f]{16}$`));
    assert.deepEqual([sent['x-b3-traceid'], sent['x-b3-sampled']], [parentTraceId, '0']);
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
