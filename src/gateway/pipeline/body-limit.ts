import { problem } from '../http/body.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from './exchange.ts';
import { refuse, refuseAsText } from './refusals.ts';

/** A definition's own limit has its own words. */
export function bodyTooLargeResponse(call: Exchange): GatewayResponse {
  if (call.errorCode === 'request_too_large') return refuse(call, 'request_too_large');
  return refuseAsText(call, 'body_too_large');
}

/**
 * Whether a call says that it brings more than it may. One that does not say is held to it while it comes: whoever reads
 * its body gets the same problem that reading too long a body gives.
 */
export function exceedsBodyLimit({ body }: Exchange, maxBytes: number): boolean {
  if (body.length !== undefined) return body.length > maxBytes;
  if (body.stream) body.stream = limitChunks(body.stream, maxBytes);
  return false;
}

/** Holds a body that does not say how long it is to the limit of a definition, while it passes. */
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
