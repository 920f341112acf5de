import { formatNanoseconds, ProtobufWriter } from '../protobuf/protobuf-writer.ts';
import { encodeGroup, formatAttributes, formatText, writeAttributes } from './encode-attributes.ts';
import { errorStatusCode, type OtlpProtocol, type OtlpSpan, type SpanEncoder, toSpanFlags } from './span.ts';

/** Field numbers of opentelemetry/proto/trace/v1/trace.proto, OTLP 1.x. */
const scopeSpans = { spans: 2 } as const;
const spanFields = {
  traceId: 1,
  spanId: 2,
  traceState: 3,
  parentSpanId: 4,
  name: 5,
  kind: 6,
  startTime: 7,
  endTime: 8,
  attributes: 9,
  links: 13,
  status: 15,
  flags: 16,
} as const;
const linkFields = { traceId: 1, spanId: 2 } as const;
const statusFields = { code: 3 } as const;

export const createSpanEncoder = (protocol: OtlpProtocol): SpanEncoder =>
  protocol === 'protobuf' ? createProtobufEncoder() : createJsonEncoder();

function createProtobufEncoder(): SpanEncoder {
  const writer = new ProtobufWriter();
  let count = 0;
  return {
    add(span) {
      writeSpan(writer, span);
      count++;
    },
    get count() {
      return count;
    },
    get size() {
      return writer.length;
    },
    drain() {
      const batch = { bytes: writer.drain(), count };
      count = 0;
      return batch;
    },
  };
}

function writeSpan(writer: ProtobufWriter, span: OtlpSpan): void {
  const start = writer.beginMessage(scopeSpans.spans);
  writer.writeHex(spanFields.traceId, span.traceId);
  writer.writeHex(spanFields.spanId, span.spanId);
  if (span.traceState !== '') writer.writeString(spanFields.traceState, span.traceState);
  if (span.parentSpanId !== '') writer.writeHex(spanFields.parentSpanId, span.parentSpanId);
  writer.writeString(spanFields.name, span.name);
  writer.writeUnsigned(spanFields.kind, span.kind);
  writer.writeNanoseconds(spanFields.startTime, span.startMs);
  writer.writeNanoseconds(spanFields.endTime, span.endMs);
  if (span.sharedAttributes) writer.writeEncoded(encodeGroup(span.sharedAttributes, spanFields.attributes));
  writeAttributes(writer, spanFields.attributes, span.attributes);
  if (span.link) {
    const linkStart = writer.beginMessage(spanFields.links);
    writer.writeHex(linkFields.traceId, span.link.traceId);
    writer.writeHex(linkFields.spanId, span.link.spanId);
    writer.endMessage(linkStart);
  }
  if (span.isError) {
    const statusStart = writer.beginMessage(spanFields.status);
    writer.writeUnsigned(statusFields.code, errorStatusCode);
    writer.endMessage(statusStart);
  }
  writer.writeFixed32(spanFields.flags, toSpanFlags(span));
  writer.endMessage(start);
}

const initialJsonBytes = 65_536;
/** Of UTF-8, for a UTF-16 code unit. */
const maxBytesPerCharacter = 3;

/** JSON of OTLP: hexadecimal ids, numbers for enums, text for 64-bit integers. */
function createJsonEncoder(): SpanEncoder {
  // Encoded span by span: one text for a batch would be a tree of thousands of parts that survives garbage collections.
  let bytes = Buffer.allocUnsafeSlow(initialJsonBytes);
  let length = 0;
  let count = 0;
  return {
    add(span) {
      const text = count === 0 ? formatSpan(span) : `,${formatSpan(span)}`;
      const needed = length + text.length * maxBytesPerCharacter;
      if (needed > bytes.length) {
        const grown = Buffer.allocUnsafeSlow(2 * needed);
        bytes.copy(grown, 0, 0, length);
        bytes = grown;
      }
      length += bytes.write(text, length);
      count++;
    },
    get count() {
      return count;
    },
    get size() {
      return length;
    },
    drain() {
      const batch = { bytes: new Uint8Array(bytes.subarray(0, length)), count };
      length = 0;
      count = 0;
      return batch;
    },
  };
}

function formatSpan(span: OtlpSpan): string {
  const { traceId, spanId, parentSpanId, traceState, name, kind, startMs, endMs, attributes, isError, link } = span;
  const state = traceState === '' ? '' : `,"traceState":${formatText(traceState)}`;
  const parent = parentSpanId === '' ? '' : `,"parentSpanId":"${parentSpanId}"`;
  const times = `"startTimeUnixNano":"${formatNanoseconds(startMs)}","endTimeUnixNano":"${formatNanoseconds(endMs)}"`;
  const links = link ? `,"links":[{"traceId":"${link.traceId}","spanId":"${link.spanId}"}]` : '';
  const status = isError ? `,"status":{"code":${errorStatusCode}}` : '';
  return (
    `{"traceId":"${traceId}","spanId":"${spanId}"${state}${parent},"name":${formatText(name)},"kind":${kind},` +
    `${times},"attributes":${formatAttributes(attributes, span.sharedAttributes)}${links}${status},"flags":${toSpanFlags(span)}}`
  );
}
