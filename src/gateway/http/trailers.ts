import { hopByHopHeaders } from './headers.ts';

/** Fields that may not be trailers (RFC 9110, 6.5.1): they would change how the message is read. */
const forbiddenTrailers =
  /^(?:content-(?:length|type|encoding|range)|host|authorization|cookie|set-cookie|cache-control)$/;

/** Trailers of an upstream response that are forwarded; undefined without any. */
export function filterTrailers(received: readonly string[]): string[] | undefined {
  if (received.length === 0) return undefined;
  const trailers: string[] = [];
  for (let i = 0; i < received.length; i += 2) {
    const name = received[i]!.toLowerCase();
    if (!hopByHopHeaders.has(name) && !forbiddenTrailers.test(name)) trailers.push(received[i]!, received[i + 1]!);
  }
  return trailers;
}
