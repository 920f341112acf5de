import { problem } from '../http/body.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from './exchange.ts';
import { refuse, refusePlainly } from './refusals.ts';

/** A definition's own limit has its own words. */
export function tooLarge(call: Exchange): GatewayResponse {
  if (call.errorCode === 'request_too_large') return refuse(call, 'request_too_large');
  return refusePlainly(call, 'body_too_large');
}

/**
 * Whether a call says that it brings more than it may. One that does not say is held to it while it comes: whoever reads
 * its body gets the same problem that reading too long a body gives.
 */
export function bringsTooMuch({ body }: Exchange, most: number): boolean {
  if (body.length !== undefined) return body.length > most;
  if (body.stream) body.stream = limited(body.stream, most);
  return false;
}

/** Holds a body that does not say how long it is to the limit of a definition, while it passes. */
export function limitStream(call: Exchange, most: number): void {
  const { body } = call;
  const over = () => {
    call.errorCode = 'request_too_large';
  };
  if (body.stream) body.stream = limited(body.stream, most, over);
}

async function* limited(
  stream: AsyncIterable<Uint8Array>,
  most: number,
  over?: () => void,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.byteLength;
    if (size > most) {
      over?.();
      throw problem.too_large();
    }
    yield chunk;
  }
}
