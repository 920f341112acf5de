import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Bench, openBench, stepsOf } from '../../../tests/support/step-harness.ts';
import { runRequestSteps } from '../pipeline/chain.ts';

describe('W3C Trace Context', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());

  async function traceRequest(headers: Record<string, string>) {
    const api = await bench.compile({ use_keyless: true, detailed_tracing: true, enable_context_vars: true });
    const { call } = await bench.send(api, { headers });
    const steps = new Set(['tracing', 'context-variables']);
    await runRequestSteps({ request: stepsOf(api, steps) }, call);
    return call;
  }
  const trace = '0af7651916cd43dd8448eb211c80319c';

  test('records and context have the trace id, and tracestate is forwarded', async () => {
    const call = await traceRequest({ traceparent: `00-${trace}-b7ad6b7169203331-01`, tracestate: 'a=b' });
    assert.deepEqual([call.traceId, call.tags, call.context?.gw_trace_id], [trace, [`trace-id-${trace}`], trace]);
    assert.equal(call.headers.get('tracestate'), 'a=b');
  });

  const unusable = [
    '',
    'nonsense',
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `ff-${trace}-b7ad6b7169203331-01`,
    `00-${trace.toUpperCase()}-b7ad6b7169203331-01`,
  ];
  for (const traceparent of unusable)
    test(`traceparent ${traceparent || 'missing'}: a new trace begins`, async () => {
      const call = await traceRequest({ traceparent, tracestate: 'a=b' });
      assert.match(call.traceId, /^[0-9a-f]{32}$/);
      assert.notEqual(call.traceId, trace);
      assert.match(call.headers.get('traceparent')!, new RegExp(`^00-${call.traceId}-[0-9a-f]{16}-01$`));
      assert.deepEqual([call.headers.all('traceparent').length, call.headers.get('tracestate')], [1, undefined]);
    });
});
