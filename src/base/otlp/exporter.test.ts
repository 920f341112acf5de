import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { createLog } from '#base/log.ts';
import { decodeExport, listSpans, startCollector, type TestCollector } from '../../../tests/support/otlp.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { createOutboundClient, type OutboundClient } from '../http-client/client.ts';
import { createSpanEncoder } from './encode-spans.ts';
import { createOtlpExporter, type OtlpExporter } from './exporter.ts';
import { readRejection } from './partial-success.ts';
import { createFrame, describeSource, toSignalUrl, traceSignal } from './resource.ts';
import { readRetryAfterMs } from './retry-after.ts';
import { type OtlpProtocol, type OtlpSpan, otlpContentTypes } from './span.ts';

const source = describeSource({ serviceName: 'gw', version: '1.2.3', instanceId: 'node-1' });
const traceId = '0af7651916cd43dd8448eb211c80319c';
const span: OtlpSpan = {
  traceId,
  spanId: 'b7ad6b7169203331',
  parentSpanId: '00f067aa0ba902b7',
  isParentRemote: true,
  traceState: 'a=b',
  isSampled: true,
  name: 'GET /orders',
  kind: 2,
  startMs: 1_794_823_456_789.25,
  endMs: 1_794_823_456_800.5,
  attributes: ['http.request.method', 'GET', 'http.response.status_code', 200, 'gw.cached', false],
  isError: false,
};

const sharedAttributes = { list: ['gw.api.id', 'a', 'server.port', 80] };

/** Spans whose encodings reach the edges: long values, text outside ASCII, no parent, an error, a link, large numbers. */
const spans: readonly OtlpSpan[] = [
  span,
  { ...span, parentSpanId: '', isParentRemote: false, traceState: '', isSampled: false, isError: true },
  { ...span, name: 'é → 😀 \u0000 "quoted"\n', attributes: ['long', 'x'.repeat(127), 'longer', 'ü'.repeat(20_000)] },
  {
    ...span,
    attributes: ['n', 127, 'm', 128, 'large', 2 ** 40 + 1, 'empty', ''],
    link: { traceId, spanId: span.spanId },
  },
  { ...span, name: 'C:\\x', attributes: ['a"b\\c', '\\', 'del', '\u007f', 'lone', '\ud800'] },
  { ...span, sharedAttributes },
  { ...span, sharedAttributes, attributes: [] },
  { ...span, name: 'x'.repeat(300), startMs: 0, endMs: 1_794_823_456_789.75, kind: 1 },
];

const encode = (protocol: OtlpProtocol, list: readonly OtlpSpan[]) => {
  const encoder = createSpanEncoder(protocol);
  for (const it of list) encoder.add(it);
  return encoder.drain();
};

const decode = (protocol: OtlpProtocol, parts: readonly Uint8Array[]) =>
  decodeExport(otlpContentTypes[protocol], createFrame(protocol, traceSignal, source)(parts), '/v1/traces');

describe('OTLP encoding', () => {
  test('JSON and Protocol Buffers decode to the same spans', () => {
    const [json, protobuf] = (['json', 'protobuf'] as const).map(protocol =>
      decode(protocol, [encode(protocol, spans.slice(0, 2)).bytes, encode(protocol, spans.slice(2)).bytes]),
    );
    assert.deepEqual(protobuf, json);
    assert.equal(listSpans(json!).length, spans.length);
  });

  test('a span has its times in nanoseconds, its flags and its attributes', () => {
    const body = decode('protobuf', [encode('protobuf', [span]).bytes]);
    assert.deepEqual(body, {
      resourceSpans: [
        {
          resource: {
            attributes: [
              { key: 'service.name', value: { stringValue: 'gw' } },
              { key: 'service.version', value: { stringValue: '1.2.3' } },
              { key: 'service.instance.id', value: { stringValue: 'node-1' } },
            ],
          },
          scopeSpans: [
            {
              scope: { name: 'gatewright', version: '1.2.3' },
              spans: [
                {
                  traceId,
                  spanId: 'b7ad6b7169203331',
                  traceState: 'a=b',
                  parentSpanId: '00f067aa0ba902b7',
                  name: 'GET /orders',
                  kind: 2,
                  startTimeUnixNano: '1794823456789250000',
                  endTimeUnixNano: '1794823456800500000',
                  attributes: [
                    { key: 'http.request.method', value: { stringValue: 'GET' } },
                    { key: 'http.response.status_code', value: { intValue: '200' } },
                    { key: 'gw.cached', value: { boolValue: false } },
                  ],
                  flags: 0x301,
                },
              ],
            },
          ],
        },
      ],
    });
  });

  test('an encoder is empty after its batch was drained', () => {
    for (const protocol of ['json', 'protobuf'] as const) {
      const encoder = createSpanEncoder(protocol);
      encoder.add(span);
      assert.equal(encoder.drain().count, 1);
      encoder.add(span);
      assert.deepEqual(encoder.drain(), encode(protocol, [span]));
      assert.deepEqual([encoder.count, encoder.size], [0, 0]);
    }
  });

  test('the path of the signal is added to an origin alone', () => {
    assert.equal(toSignalUrl('http://c:4318', '/v1/traces'), 'http://c:4318/v1/traces');
    assert.equal(toSignalUrl('http://c/otlp?x=1', '/v1/traces'), 'http://c/otlp?x=1');
  });
});

test('Retry-After is read as seconds or as a date', () => {
  const now = Date.parse('Wed, 21 Oct 2026 07:28:00 GMT');
  assert.equal(readRetryAfterMs(' 12 ', now), 12_000);
  assert.equal(readRetryAfterMs('Wed, 21 Oct 2026 07:28:30 GMT', now), 30_000);
  assert.equal(readRetryAfterMs('Wed, 21 Oct 2026 07:27:00 GMT', now), 0);
  for (const value of ['', 'soon', '-1', '1.5', '2026-10-21'])
    assert.equal(readRetryAfterMs(value, now), undefined, value);
});

test('a partial success has the number of rejected items and a message', () => {
  const json = Buffer.from('{"partialSuccess":{"rejectedSpans":"3","errorMessage":"no"}}');
  assert.deepEqual(readRejection('json', json), { count: 3, message: 'no' });
  const protobuf = Buffer.from([0x0a, 0x06, 0x08, 0x03, 0x12, 0x02, 0x6e, 0x6f]);
  assert.deepEqual(readRejection('protobuf', protobuf), { count: 3, message: 'no' });
  for (const body of ['', '{}', 'ok', '{"partialSuccess":null}'])
    for (const protocol of ['json', 'protobuf'] as const)
      assert.deepEqual(readRejection(protocol, Buffer.from(body)), { count: 0, message: '' }, body);
});

describe('OTLP exporter', () => {
  let collector: TestCollector;
  let outbound: OutboundClient;
  let exporter: OtlpExporter | undefined;
  const lines: string[] = [];
  before(async () => {
    outbound = createOutboundClient();
  });
  after(() => outbound.close());
  beforeEach(async () => {
    collector = await startCollector();
    lines.length = 0;
  });
  afterEach(async () => {
    await exporter?.close(0);
    await collector.close();
  });

  const createExporter = (more: Partial<Parameters<typeof createOtlpExporter>[0]> = {}): OtlpExporter => {
    exporter = createOtlpExporter({
      signal: 'traces',
      endpoint: `${collector.url}/v1/traces`,
      protocol: 'protobuf',
      compresses: false,
      headers: { Authorization: 'Bearer canary' },
      timeoutMs: 10_000,
      maxQueueBytes: 100_000,
      frame: createFrame('protobuf', traceSignal, source),
      outbound,
      log: createLog({ level: 'info', format: 'json', write: line => lines.push(line) }),
      retryIntervalMs: 1,
      ...more,
    });
    return exporter;
  };
  const { bytes } = encode('protobuf', [span]);

  test('spans arrive with the headers of the settings', async () => {
    const { add, totals } = createExporter();
    add(bytes, 1);
    await eventually(() => assert.equal(totals().exported, 1));
    const [request] = collector.requests;
    assert.equal(request!.headers.authorization, 'Bearer canary');
    assert.equal(request!.headers['content-type'], 'application/x-protobuf');
    assert.equal(collector.spans().length, 1);
  });

  test('a compressed body has the encoding in its head', async () => {
    const { add, totals } = createExporter({ compresses: true });
    add(bytes, 1);
    await eventually(() => assert.equal(totals().exported, 1));
    assert.equal(collector.requests[0]!.headers['content-encoding'], 'gzip');
  });

  test('statuses 429, 502, 503 and 504 and a lost connection are retried', async () => {
    const answers = [429, 502, 503, 504, 0];
    collector.answer = response => {
      const status = answers.shift();
      if (answers.length === 0) collector.answer = undefined;
      if (status === 0) response.destroy();
      else response.writeHead(status!, status === 429 ? { 'retry-after': '0' } : {}).end();
    };
    const { add, totals } = createExporter();
    add(bytes, 1);
    await eventually(() => assert.equal(totals().exported, 1));
    assert.deepEqual(answers, []);
    assert.equal(collector.spans().length, 1);
  });

  test('any other failure status is final: the spans count as failed, and the log has no secret', async () => {
    let count = 0;
    collector.answer = response => {
      count++;
      response.writeHead(401).end('canary');
    };
    const { add, totals } = createExporter();
    add(bytes, 1);
    await eventually(() => assert.equal(totals().failed, 1));
    assert.equal(count, 1);
    assert.match(lines.join(''), /"attempts":1,"reason":"the collector responded with status 401"/);
    assert.doesNotMatch(lines.join(''), /canary/);
  });

  test('spans that the collector rejects in part count as failed', async () => {
    collector.answer = response => void response.end(Buffer.from([0x0a, 0x02, 0x08, 0x01]));
    const { add, totals } = createExporter();
    add(encode('protobuf', [span, span]).bytes, 2);
    await eventually(() => assert.deepEqual(totals(), { exported: 1, dropped: 0, failed: 1 }));
  });

  test('the queue is bounded, and what it drops is counted', async () => {
    const held = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    collector.answer = response => {
      arrived.resolve();
      collector.answer = undefined;
      void held.promise.then(() => response.writeHead(503, { 'retry-after': '0' }).end());
    };
    const { add, totals } = createExporter({ maxQueueBytes: bytes.length * 2 });
    add(bytes, 1);
    await arrived.promise;
    for (let i = 0; i < 5; i++) add(bytes, 1);
    assert.equal(totals().dropped, 3);
    held.resolve();
    await eventually(() => assert.deepEqual(totals(), { exported: 3, dropped: 3, failed: 0 }));
    // Queued parts share one request.
    assert.equal(collector.requests.length, 2);
  });

  test('close sends what is queued', async () => {
    const { add, totals, close } = createExporter();
    for (let i = 0; i < 3; i++) add(bytes, 1);
    await close();
    assert.equal(totals().exported, 3);
    add(bytes, 1);
    assert.equal(totals().dropped, 1);
  });

  test('close ends at its deadline while the collector does not respond', async () => {
    collector.answer = () => undefined;
    const { add, totals, close } = createExporter();
    for (let i = 0; i < 2; i++) add(bytes, 1);
    await close(20);
    assert.deepEqual(totals(), { exported: 0, dropped: 0, failed: 2 });
  });
});
