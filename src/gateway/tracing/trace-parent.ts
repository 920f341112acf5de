import type { HeaderList } from '../http/headers.ts';

/** Trace context of a request: the span of the caller, and what it decided. */
export interface TraceParent {
  /** 32 hexadecimal characters. */
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined where the caller left the decision to the receiver. */
  readonly isSampled: boolean | undefined;
  /** Empty without a valid one. */
  readonly traceState: string;
}

/** Bound of `tracestate`, the size that every participant has to propagate (W3C Trace Context, 3.3.1.5). */
const maxTraceStateCharacters = 512;
const maxTraceParentCharacters = 256;

/** Trace headers as received. */
export interface TraceHeaders {
  traceparent: string | undefined;
  /** A repeated `traceparent` is invalid. */
  isRepeated: boolean;
  tracestate: string;
  b3: string | undefined;
  b3TraceId: string | undefined;
  b3SpanId: string | undefined;
  b3Sampled: string | undefined;
  b3Flags: string | undefined;
}

/** Lengths of the header names below; all others are skipped without a comparison. */
const namesByLength: readonly (readonly string[] | undefined)[] = [
  ['b3'],
  ['x-b3-flags', 'tracestate'],
  ['traceparent', 'x-b3-spanid'],
  ['x-b3-traceid', 'x-b3-sampled'],
  ['x-b3-parentspanid'],
].reduce<(readonly string[] | undefined)[]>((table, names) => {
  table[names[0]!.length] = names;
  return table;
}, []);

/** Every header that carries trace context, in lower case. */
export const traceHeaderNames: ReadonlySet<string> = new Set(namesByLength.flatMap(names => names ?? []));

const lowerCaseBit = 0x20;
const initials = { b: 0x62, t: 0x74, x: 0x78 };

/** First letter `t` or `b`, or `x-b`: spares most other names the conversion to lower case. */
function hasTraceInitial(name: string): boolean {
  const first = name.charCodeAt(0) | lowerCaseBit;
  if (first === initials.x) return (name.charCodeAt(2) | lowerCaseBit) === initials.b;
  return first === initials.t || first === initials.b;
}

/** Finds the trace headers in one pass; undefined without any, the usual case. */
export function findTraceHeaders({ flat }: HeaderList): TraceHeaders | undefined {
  let found: TraceHeaders | undefined;
  for (let i = 0; i < flat.length; i += 2) {
    const received = flat[i]!;
    const names = namesByLength[received.length];
    if (names === undefined || !hasTraceInitial(received)) continue;
    const name = received.toLowerCase();
    if (!names.includes(name)) continue;
    found ??= createTraceHeaders();
    noteTraceHeader(found, name, flat[i + 1]!);
  }
  return found;
}

const createTraceHeaders = (): TraceHeaders => ({
  traceparent: undefined,
  isRepeated: false,
  tracestate: '',
  b3: undefined,
  b3TraceId: undefined,
  b3SpanId: undefined,
  b3Sampled: undefined,
  b3Flags: undefined,
});

function noteTraceHeader(found: TraceHeaders, name: string, value: string): void {
  if (name === 'traceparent') {
    found.isRepeated = found.traceparent !== undefined;
    found.traceparent = value;
  } else if (name === 'tracestate') found.tracestate = found.tracestate === '' ? value : `${found.tracestate},${value}`;
  else if (name === 'b3') found.b3 = value;
  else if (name === 'x-b3-traceid') found.b3TraceId = value;
  else if (name === 'x-b3-spanid') found.b3SpanId = value;
  else if (name === 'x-b3-sampled') found.b3Sampled = value;
  else if (name === 'x-b3-flags') found.b3Flags = value;
}

/** W3C Trace Context first, then B3 as one header, then as several; undefined where none of them is valid. */
export function parseTraceParent(headers: TraceHeaders): TraceParent | undefined {
  return parseW3c(headers) ?? parseB3(headers.b3) ?? parseB3Headers(headers);
}

const w3cShape = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;
const zeros = /^0+$/;

function parseW3c({ traceparent, isRepeated, tracestate }: TraceHeaders): TraceParent | undefined {
  if (traceparent === undefined || isRepeated || traceparent.length > maxTraceParentCharacters) return undefined;
  const [, version, traceId, spanId, flags] = w3cShape.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || zeros.test(traceId!) || zeros.test(spanId!)) return undefined;
  // Only a version that is not known yet may have more fields.
  if (version === '00' && traceparent.length !== 55) return undefined;
  const isSampled = (Number.parseInt(flags!, 16) & 1) === 1;
  return { traceId: traceId!, spanId: spanId!, isSampled, traceState: isTraceState(tracestate) ? tracestate : '' };
}

const isTraceState = (value: string): boolean =>
  value.length <= maxTraceStateCharacters && /^[\x20-\x7e\t]*$/.test(value);

const b3Shape = /^((?:[0-9a-f]{16}){1,2})-([0-9a-f]{16})(?:-([01d])(?:-[0-9a-f]{16})?)?$/;

function parseB3(value: string | undefined): TraceParent | undefined {
  const [, traceId, spanId, sampled] = b3Shape.exec(value ?? '') ?? [];
  return traceId === undefined ? undefined : toB3Parent(traceId, spanId!, sampled);
}

function parseB3Headers({ b3TraceId, b3SpanId, b3Sampled, b3Flags }: TraceHeaders): TraceParent | undefined {
  if (b3TraceId === undefined || b3SpanId === undefined) return undefined;
  if (!/^(?:[0-9a-f]{16}){1,2}$/.test(b3TraceId) || !/^[0-9a-f]{16}$/.test(b3SpanId)) return undefined;
  // Some senders have the words of earlier releases of B3.
  const sampled = b3Flags === '1' ? 'd' : b3Sampled === 'true' ? '1' : b3Sampled === 'false' ? '0' : b3Sampled;
  return sampled === undefined || /^[01d]$/.test(sampled) ? toB3Parent(b3TraceId, b3SpanId, sampled) : undefined;
}

/** Trace ids of 64 bits are the lower half of one of 128. */
function toB3Parent(traceId: string, spanId: string, sampled: string | undefined): TraceParent | undefined {
  if (zeros.test(traceId) || zeros.test(spanId)) return undefined;
  const isSampled = sampled === undefined ? undefined : sampled !== '0';
  return { traceId: traceId.padStart(32, '0'), spanId, isSampled, traceState: '' };
}
