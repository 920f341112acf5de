import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import { percentDecodeLoosely } from '#base/percent-decode.ts';
import { GrpcError } from './grpc-error.ts';

/** Compression flag and length before each message. */
export const frameHeadBytes = 5;
const maxReasonCharacters = 200;

/** Names of status codes that servers return most; others are shown by number. */
const statusNames: ReadonlyMap<string, string> = new Map([
  ['1', 'CANCELLED'],
  ['2', 'UNKNOWN'],
  ['4', 'DEADLINE_EXCEEDED'],
  ['8', 'RESOURCE_EXHAUSTED'],
  ['12', 'UNIMPLEMENTED'],
  ['13', 'INTERNAL'],
  ['14', 'UNAVAILABLE'],
]);

/** Collects the response of a unary call; `finish` is called once. */
export function createUnaryResponse(
  stream: ClientHttp2Stream,
  maxBytes: number,
  finish: (error: GrpcError | undefined, message: Buffer | undefined) => void,
) {
  const chunks: Buffer[] = [];
  let size = 0;
  let status: string | undefined;
  let detail = '';
  let hasHead = false;
  let isFinished = false;

  function end(error: GrpcError | undefined, message?: Buffer): void {
    if (isFinished) return;
    isFinished = true;
    finish(error, message);
  }
  const fail = (error: GrpcError) => {
    end(error);
    stream.close(constants.NGHTTP2_CANCEL);
  };
  const readStatus = (headers: IncomingHttpHeaders) => {
    if (headers['grpc-status'] === undefined) return;
    status = String(headers['grpc-status']);
    detail = decodeMessage(String(headers['grpc-message'] ?? ''));
  };

  stream.once('response', headers => {
    hasHead = true;
    const type = String(headers['content-type'] ?? '');
    if (headers[':status'] !== 200)
      return fail(new GrpcError('protocol', `the server responded with HTTP ${headers[':status']}`));
    if (!type.startsWith('application/grpc'))
      return fail(new GrpcError('protocol', 'the response is not application/grpc'));
    readStatus(headers);
  });
  stream.once('trailers', readStatus);
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes + frameHeadBytes)
      return fail(new GrpcError('size', `the message has more than ${maxBytes} bytes`));
    chunks.push(chunk);
  });
  stream.once('end', () => {
    if (!hasHead) return end(new GrpcError('unavailable', 'the server closed the stream'));
    if (status === undefined) return end(new GrpcError('protocol', 'the response has no grpc-status'));
    if (status !== '0')
      return end(new GrpcError('status', `the server returned ${statusNames.get(status) ?? status}: ${detail}`));
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    if (bytes.length < frameHeadBytes || bytes.readUInt32BE(1) !== bytes.length - frameHeadBytes)
      return end(new GrpcError('protocol', 'the response is not one message'));
    if (bytes[0] !== 0) return end(new GrpcError('protocol', 'the message is compressed'));
    end(undefined, bytes.subarray(frameHeadBytes));
  });
  stream.on('error', (error: Error) => end(new GrpcError('unavailable', describeCause(error))));
  stream.once('close', () => end(new GrpcError('unavailable', 'the server closed the stream')));
  return { fail };
}

const describeCause = (error: Error): string =>
  (error.cause instanceof Error ? error.cause.message : error.message).slice(0, maxReasonCharacters);

/** Percent-decoding of `grpc-message`; a message that is not encoded stays as it is. */
const decodeMessage = (text: string): string => percentDecodeLoosely(text.slice(0, maxReasonCharacters));
