import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/*
 * A collector for OTLP/HTTP: a real HTTP server, and a decoder of Protocol Buffers driven by a table of the published
 * definitions (opentelemetry-proto 1.x). It shares no code with the product. Both encodings decode to the same objects:
 * those of OTLP/JSON, with bytes as hexadecimal and 64-bit integers as decimal text.
 */

type Kind = 'string' | 'hex' | 'enum' | 'bool' | 'uint32' | 'int64' | 'fixed32' | 'fixed64' | 'sfixed64' | 'double';
/** Name in JSON, then a scalar kind or a message; `[]` marks a repeated field. */
type Field = readonly [name: string, type: Kind | `${Kind}[]` | `:${string}` | `:${string}[]`];

const messages: Readonly<Record<string, Readonly<Record<number, Field>>>> = {
  ExportTraceServiceRequest: { 1: ['resourceSpans', ':ResourceSpans[]'] },
  ResourceSpans: { 1: ['resource', ':Resource'], 2: ['scopeSpans', ':ScopeSpans[]'], 3: ['schemaUrl', 'string'] },
  ScopeSpans: { 1: ['scope', ':InstrumentationScope'], 2: ['spans', ':Span[]'], 3: ['schemaUrl', 'string'] },
  Span: {
    1: ['traceId', 'hex'],
    2: ['spanId', 'hex'],
    3: ['traceState', 'string'],
    4: ['parentSpanId', 'hex'],
    5: ['name', 'string'],
    6: ['kind', 'enum'],
    7: ['startTimeUnixNano', 'fixed64'],
    8: ['endTimeUnixNano', 'fixed64'],
    9: ['attributes', ':KeyValue[]'],
    10: ['droppedAttributesCount', 'uint32'],
    11: ['events', ':Event[]'],
    12: ['droppedEventsCount', 'uint32'],
    13: ['links', ':Link[]'],
    14: ['droppedLinksCount', 'uint32'],
    15: ['status', ':Status'],
    16: ['flags', 'fixed32'],
  },
  Event: { 1: ['timeUnixNano', 'fixed64'], 2: ['name', 'string'], 3: ['attributes', ':KeyValue[]'] },
  Link: {
    1: ['traceId', 'hex'],
    2: ['spanId', 'hex'],
    3: ['traceState', 'string'],
    4: ['attributes', ':KeyValue[]'],
    6: ['flags', 'fixed32'],
  },
  Status: { 2: ['message', 'string'], 3: ['code', 'enum'] },
  Resource: { 1: ['attributes', ':KeyValue[]'], 2: ['droppedAttributesCount', 'uint32'] },
  InstrumentationScope: { 1: ['name', 'string'], 2: ['version', 'string'], 3: ['attributes', ':KeyValue[]'] },
  KeyValue: { 1: ['key', 'string'], 2: ['value', ':AnyValue'] },
  AnyValue: {
    1: ['stringValue', 'string'],
    2: ['boolValue', 'bool'],
    3: ['intValue', 'int64'],
    4: ['doubleValue', 'double'],
  },
  ExportMetricsServiceRequest: { 1: ['resourceMetrics', ':ResourceMetrics[]'] },
  ResourceMetrics: { 1: ['resource', ':Resource'], 2: ['scopeMetrics', ':ScopeMetrics[]'], 3: ['schemaUrl', 'string'] },
  ScopeMetrics: { 1: ['scope', ':InstrumentationScope'], 2: ['metrics', ':Metric[]'], 3: ['schemaUrl', 'string'] },
  Metric: {
    1: ['name', 'string'],
    2: ['description', 'string'],
    3: ['unit', 'string'],
    5: ['gauge', ':Gauge'],
    7: ['sum', ':Sum'],
    9: ['histogram', ':Histogram'],
  },
  Gauge: { 1: ['dataPoints', ':NumberDataPoint[]'] },
  Sum: { 1: ['dataPoints', ':NumberDataPoint[]'], 2: ['aggregationTemporality', 'enum'], 3: ['isMonotonic', 'bool'] },
  Histogram: { 1: ['dataPoints', ':HistogramDataPoint[]'], 2: ['aggregationTemporality', 'enum'] },
  NumberDataPoint: {
    2: ['startTimeUnixNano', 'fixed64'],
    3: ['timeUnixNano', 'fixed64'],
    4: ['asDouble', 'double'],
    6: ['asInt', 'sfixed64'],
    7: ['attributes', ':KeyValue[]'],
    8: ['flags', 'uint32'],
  },
  HistogramDataPoint: {
    2: ['startTimeUnixNano', 'fixed64'],
    3: ['timeUnixNano', 'fixed64'],
    4: ['count', 'fixed64'],
    5: ['sum', 'double'],
    6: ['bucketCounts', 'fixed64[]'],
    7: ['explicitBounds', 'double[]'],
    9: ['attributes', ':KeyValue[]'],
    10: ['flags', 'uint32'],
    11: ['min', 'double'],
    12: ['max', 'double'],
  },
};

const wireTypes: Readonly<Record<Kind, number>> = {
  ...{ enum: 0, bool: 0, uint32: 0, int64: 0 },
  ...{ fixed64: 1, sfixed64: 1, double: 1 },
  ...{ string: 2, hex: 2, fixed32: 5 },
};

/** Decodes a message strictly: an unknown field, a wrong wire type and a truncated value throw. */
export function decodeMessage(name: string, bytes: Buffer): Record<string, unknown> {
  const fields = messages[name]!;
  const message: Record<string, unknown> = {};
  let at = 0;

  function readVarint(): bigint {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  function take(length: number): Buffer {
    if (at + length > bytes.length) throw new Error(`${name}: a value ends after the message`);
    at += length;
    return bytes.subarray(at - length, at);
  }

  while (at < bytes.length) {
    const tag = Number(readVarint());
    const field = fields[tag >> 3];
    if (!field) throw new Error(`${name} has no field ${tag >> 3}`);
    const [member, type] = field;
    const isRepeated = type.endsWith('[]');
    const plain = isRepeated ? type.slice(0, -2) : type;
    const isMessage = plain.startsWith(':');
    const isPacked = isRepeated && !isMessage;
    const wireType = isMessage || isPacked ? 2 : wireTypes[plain as Kind];
    if ((tag & 7) !== wireType) throw new Error(`${name}.${member} has wire type ${tag & 7}`);
    if (isMessage) {
      const value = decodeMessage(plain.slice(1), take(Number(readVarint())));
      if (isRepeated) message[member] = [...((message[member] as unknown[]) ?? []), value];
      else message[member] = value;
    } else if (isPacked) {
      const packed = take(Number(readVarint()));
      message[member] = Array.from({ length: packed.length / 8 }, (_, i) =>
        toScalar(plain as Kind, packed.subarray(i * 8, i * 8 + 8), 0n),
      );
    } else {
      const value = wireType === 0 ? readVarint() : 0n;
      const size = wireType === 1 ? 8 : wireType === 5 ? 4 : wireType === 2 ? Number(readVarint()) : 0;
      message[member] = toScalar(plain as Kind, take(size), value);
    }
  }
  return message;
}

function toScalar(kind: Kind, bytes: Buffer, varint: bigint): unknown {
  if (kind === 'string') return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  if (kind === 'hex') return bytes.toString('hex');
  if (kind === 'double') return bytes.readDoubleLE();
  if (kind === 'fixed32') return bytes.readUInt32LE();
  if (kind === 'fixed64') return String(bytes.readBigUInt64LE());
  if (kind === 'sfixed64') return String(bytes.readBigInt64LE());
  if (kind === 'bool') return varint === 1n;
  return kind === 'int64' ? String(varint) : Number(varint);
}

export interface KeyValue {
  key: string;
  value: { stringValue?: string; intValue?: string; boolValue?: boolean };
}

export interface DecodedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: KeyValue[];
  links?: { traceId: string; spanId: string }[];
  status?: { code: number };
  flags: number;
}

/** Attributes as an object; numbers for whole numbers. */
export const toAttributes = (list: readonly KeyValue[] = []): Record<string, string | number | boolean> =>
  Object.fromEntries(
    list.map(({ key, value: { stringValue, intValue, boolValue } }) => [
      key,
      stringValue ?? boolValue ?? Number(intValue),
    ]),
  );

export interface CollectedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The decoded export request. */
  readonly body: Record<string, unknown>;
}

export interface TestCollector {
  readonly url: string;
  readonly requests: CollectedRequest[];
  /** Responds in place of the collector; the request is then not collected. */
  answer: ((response: ServerResponse) => void) | undefined;
  /** Spans of all requests, in order. */
  spans(): DecodedSpan[];
  close(): Promise<void>;
}

/** Decodes the body of an export request by its content type. */
export function decodeExport(contentType: string, body: Buffer, path: string): Record<string, unknown> {
  if (contentType === 'application/json') return JSON.parse(body.toString());
  const isTrace = path.endsWith('/v1/traces');
  return decodeMessage(isTrace ? 'ExportTraceServiceRequest' : 'ExportMetricsServiceRequest', body);
}

export async function startCollector(): Promise<TestCollector> {
  const requests: CollectedRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (collector.answer) return collector.answer(response);
    const { headers, url: path = '' } = request;
    const raw = Buffer.concat(chunks);
    try {
      const body = headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
      requests.push({ path, headers, body: decodeExport(headers['content-type']!, body, path) });
      response.end();
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const collector: TestCollector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: undefined,
    spans: () => requests.flatMap(({ body }) => listSpans(body)),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return collector;
}

interface TraceRequest {
  resourceSpans?: { scopeSpans: { spans: DecodedSpan[] }[] }[];
}

export const listSpans = (body: Record<string, unknown>): DecodedSpan[] =>
  ((body as TraceRequest).resourceSpans ?? []).flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));

export interface DecodedPoint {
  startTimeUnixNano?: string;
  timeUnixNano: string;
  asDouble?: number;
  count?: string;
  sum?: number;
  bucketCounts?: string[];
  explicitBounds?: number[];
  attributes?: KeyValue[];
}

interface PointList {
  dataPoints: DecodedPoint[];
  aggregationTemporality?: number;
  isMonotonic?: boolean;
}

export interface DecodedMetric {
  name: string;
  description?: string;
  unit?: string;
  gauge?: PointList;
  sum?: PointList;
  histogram?: PointList;
}

interface MetricsRequest {
  resourceMetrics?: { scopeMetrics: { metrics: DecodedMetric[] }[] }[];
}

export const listDecodedMetrics = (body: Record<string, unknown>): DecodedMetric[] =>
  ((body as MetricsRequest).resourceMetrics ?? []).flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) => metrics),
  );

/** Server span of a trace, its client spans and its steps. */
export const groupSpans = (spans: readonly DecodedSpan[], traceId: string) => {
  const own = spans.filter(span => span.traceId === traceId);
  return {
    server: own.find(({ kind }) => kind === 2),
    clients: own.filter(({ kind }) => kind === 3),
    steps: own.filter(({ kind }) => kind === 1),
  };
};
