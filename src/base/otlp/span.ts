/** OTLP 1.x `Span.SpanKind`. */
export const spanKinds = { internal: 1, server: 2, client: 3, producer: 4 } as const;
export type SpanKind = (typeof spanKinds)[keyof typeof spanKinds];

/** Flat list of attribute names and values: `[name, value, name, value, …]`. Numbers are whole. */
export type OtlpAttributes = readonly (string | number | boolean)[];

/** Attributes that many spans share; each encoding is made once. */
export interface AttributeGroup {
  readonly list: OtlpAttributes;
  protobuf?: Uint8Array;
  json?: string;
}

export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
}

export interface OtlpSpan {
  /** 32 hexadecimal characters, lower case. */
  readonly traceId: string;
  /** 16 hexadecimal characters. */
  readonly spanId: string;
  /** Empty for a root span. */
  readonly parentSpanId: string;
  readonly isParentRemote: boolean;
  readonly traceState: string;
  readonly isSampled: boolean;
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds since 1970, with a fraction. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: OtlpAttributes;
  readonly sharedAttributes?: AttributeGroup | undefined;
  readonly isError: boolean;
  readonly link?: SpanLink | undefined;
}

/** `Span.flags`: W3C trace flags in the low byte, then whether the remoteness of the parent is set, and its value. */
export const toSpanFlags = ({ isSampled, isParentRemote }: Pick<OtlpSpan, 'isSampled' | 'isParentRemote'>): number =>
  (isSampled ? 0x01 : 0) | 0x100 | (isParentRemote ? 0x200 : 0);

export const errorStatusCode = 2;

/** Encoding of OTLP/HTTP bodies. */
export type OtlpProtocol = 'protobuf' | 'json';

export const otlpContentTypes: Readonly<Record<OtlpProtocol, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
};

/** Encoded spans, as the elements of `ScopeSpans.spans`. Those of several batches can be joined. */
export interface SpanBatch {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly count: number;
}

/** Encodes spans one at a time into a batch. */
export interface SpanEncoder {
  add(span: OtlpSpan): void;
  readonly count: number;
  /** Size of the batch so far; characters for JSON. */
  readonly size: number;
  drain(): SpanBatch;
}
