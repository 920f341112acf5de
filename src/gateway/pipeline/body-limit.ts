import { problem } from '../http/body.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from './exchange.ts';
import { refuse, refuseAsText } from './refusals.ts';

/** 413; the limit of a definition has its own message. */
export function bodyTooLargeResponse(call: Exchange): GatewayResponse {
  if (call.errorCode === 'request_too_large') return refuse(call, 'request_too_large');
  return refuseAsText(call, 'body_too_large');
}

/**
 * True when Content-Length exceeds the bound. A body without a length is bounded while it streams: its reader gets the
 * same problem as for a body that is too long.
 */
export function exceedsBodyLimit({ body }: Exchange, maxBytes: number): boolean {
  if (body.length !== undefined) return body.length > maxBytes;
  if (body.stream) body.stream = limitChunks(body.stream, maxBytes);
  return false;
}

/** Bounds a body without Content-Length while it streams, with the error of the definition. */
export function limitStream(call: Exchange, maxBytes: number): void {
  const { body } = call;
  const onExceeded = () => {
    call.errorCode = 'request_too_large';
  };
  if (body.stream) body.stream = limitChunks(body.stream, maxBytes, onExceeded);
}

async function* limitChunks(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
  onExceeded?: () => void,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.byteLength;
    if (size > maxBytes) {
      onExceeded?.();
      throw problem.too_large();
    }
    yield chunk;
  }
}
