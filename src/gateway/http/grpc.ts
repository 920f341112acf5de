import type { HeaderList } from './headers.ts';

/** gRPC status codes by HTTP status of the gateway. */
const byHttpStatus: ReadonlyMap<number, number> = new Map([
  [400, 3], // INVALID_ARGUMENT
  [401, 16], // UNAUTHENTICATED
  [403, 7], // PERMISSION_DENIED
  [404, 12], // UNIMPLEMENTED
  [405, 12],
  [408, 4], // DEADLINE_EXCEEDED
  [409, 10], // ABORTED
  [411, 3],
  [412, 9], // FAILED_PRECONDITION
  [413, 8], // RESOURCE_EXHAUSTED
  [414, 8],
  [422, 3],
  [429, 8],
  [431, 8],
  [499, 1], // CANCELLED
  [500, 13], // INTERNAL
  [501, 12],
  [502, 14], // UNAVAILABLE
  [503, 14],
  [504, 4],
]);
const unknownStatus = 2;

/** Refusals that are UNAVAILABLE although the HTTP status is 500: gRPC clients retry UNAVAILABLE, not INTERNAL. */
const unavailableCodes: ReadonlySet<string> = new Set([
  'upstream_failed',
  'upstream_dns_failed',
  'upstream_token_missing',
]);
const unavailableStatus = 14;

const maxMessageBytes = 1024;

/** `application/grpc`, its encodings (`+proto`), and gRPC-Web, whose clients read Trailers-Only responses too. */
const grpcType = /^application\/grpc(?:-web(?:-text)?)?(?:\+[a-z0-9.+-]{1,40})?(?=\s*(?:;|$))/i;

/** The media type of a gRPC request; undefined for any other request. */
export function readGrpcType(method: string, headers: HeaderList): string | undefined {
  if (method !== 'POST') return undefined;
  const type = headers.get('content-type');
  return type === undefined ? undefined : grpcType.exec(type)?.[0].toLowerCase();
}

/** Streaming requests of the Connect protocol. */
const connectType = /^application\/connect\+/i;

/** True when request and response may stream at the same time, so a pause does not mean a slow client. */
export const isBidirectional = (method: string, headers: HeaderList): boolean =>
  readGrpcType(method, headers) !== undefined || connectType.test(headers.get('content-type') ?? '');

/** The gRPC status of a refusal, from its final HTTP status and its code. */
export const toGrpcStatus = (httpStatus: number, refusal = ''): number =>
  httpStatus === 500 && unavailableCodes.has(refusal)
    ? unavailableStatus
    : (byHttpStatus.get(httpStatus) ?? unknownStatus);

/** Percent-encoding of `grpc-message` (PROTOCOL-HTTP2): bytes of UTF-8 outside of printable ASCII, and `%` itself. */
export function encodeGrpcMessage(message: string): string {
  let text = '';
  for (const byte of Buffer.from(message).subarray(0, maxMessageBytes))
    text +=
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return text;
}

/** Headers that describe a body, which a Trailers-Only response does not have. */
const bodyHeaders: ReadonlySet<string> = new Set([
  ...['content-length', 'content-encoding', 'content-language'],
  ...['content-security-policy', 'x-content-type-options'],
]);

/** HTTP status of Trailers-Only responses, whatever the error. */
export const grpcHttpStatus = 200;

/** Converts an error head to a Trailers-Only response: no body, status and message in the head. */
export function toTrailersOnly(headers: HeaderList, type: string, grpcStatus: number, message: string): void {
  headers.removeAll(bodyHeaders);
  headers.set('Content-Type', type);
  headers.set('grpc-status', String(grpcStatus));
  headers.set('grpc-message', encodeGrpcMessage(message));
}
