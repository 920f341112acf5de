import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readSettings } from '#base/settings.ts';
import {
  createTracedCall,
  isExported,
  openTracer,
  parentSpanId,
  parentTraceId,
} from '../../../tests/support/tracer.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { validateTrafficSettings } from '../runtime/validate-settings.ts';

describe('Trace sampling', () => {
  const parent = (flag: '00' | '01', { random = parentTraceId.slice(18), isTrusted = false, status = 200 } = {}) =>
    createTracedCall(['traceparent', `00-${parentTraceId.slice(0, 18)}${random}-${parentSpanId}-${flag}`], {
      isTrusted,
      status,
    });

  test('tracing.sample_share: the share of new traces, and none of those that a trusted client has not sampled', () => {
    let exported = 0;
    for (let i = 0; i < 400; i++) if (isExported({ 'tracing.sample_share': '0.25' }, createTracedCall())) exported++;
    assert.ok(exported > 40 && exported < 160, String(exported));
    assert.equal(isExported({ 'tracing.sample_share': '0' }, createTracedCall()), false);
    assert.equal(isExported({}, parent('00', { isTrusted: true })), false);
    for (const invalid of ['2', '-1', 'x', ''])
      assert.throws(() => readSettings({ flags: { 'tracing.sample_share': invalid } }), /must be a number from 0 to 1/);
  });

  test('the decision by share depends on the lower half of the trace id, where it is of a trusted client', () => {
    const settings = { 'tracing.sample_share': '0.5' };
    const send = (random: string) =>
      isExported(
        settings,
        createTracedCall(['b3', `${parentTraceId.slice(0, 18)}${random}-${parentSpanId}`], { isTrusted: true }),
      );
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
      const call = Object.assign(
        createTracedCall(['traceparent', `00-${parentTraceId}-${parentSpanId}-01`], { isTrusted }),
        { startedAt },
      );
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
    assert.equal(isExported(settings, createTracedCall([], { status: 500 })), true);
    assert.equal(isExported(settings, createTracedCall([], { status: 404 })), false);
    assert.equal(isExported({ 'tracing.sample_share': '0' }, createTracedCall([], { status: 500 })), false);
  });

  test('tracing.rules: by path at the start, by API once it is routed, by status and duration at the end', () => {
    const exports = (rules: object[], call: Exchange, share = '0') =>
      isExported({ 'tracing.sample_share': share, 'tracing.rules': JSON.stringify(rules) }, call);
    assert.equal(exports([{ path: '/orders' }], createTracedCall()), true);
    assert.equal(exports([{ path: '/other' }], createTracedCall()), false);
    assert.equal(exports([{ path: '/orders', share: 0 }], createTracedCall(), '1'), false);
    assert.equal(exports([{ path: '/orders', share: 0 }, { path: '/' }], createTracedCall(), '0'), false);
    assert.equal(exports([{ status: 404 }], createTracedCall([], { status: 404 })), true);
    assert.equal(exports([{ status: '4xx', api: 'orders' }], createTracedCall([], { status: 403 })), true);
    assert.equal(exports([{ status: '4xx', api: 'other' }], createTracedCall([], { status: 403 })), false);
    assert.equal(
      exports([{ min_duration_ms: 5000 }], createTracedCall([], { startedAt: performance.now() - 6000 })),
      true,
    );
    assert.equal(exports([{ min_duration_ms: 60_000 }], createTracedCall()), false);
    assert.equal(exports([{ status: 200, share: 0 }], createTracedCall()), false);
  });

  test('a rule with an API decides before the upstream gets the flag', () => {
    const rules = JSON.stringify([{ api: 'orders', share: 0 }]);
    const { tracer, readSpans } = openTracer({ 'tracing.rules': rules });
    const call = createTracedCall();
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
