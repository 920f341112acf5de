import { hopByHop } from '../http/headers.ts';
import type { Exchange } from '../pipeline/exchange.ts';

/** Speak to this gateway, not to whoever is behind it; said anew for the upstream. */
const ours: ReadonlySet<string> = new Set(['host', 'content-length', 'expect', 'x-real-ip', 'x-forwarded-for']);

/**
 * The headers that go upstream, as a flat list: the call's, without those of its connection, then ours. What callers
 * claim about forwarding was dropped when the call arrived; what is still there came from a trusted proxy or from a step.
 */
export function upstreamHeaders(call: Exchange, host: string): string[] {
  const { suppressedHeaders } = call;
  const { flat } = call.headers;
  const out: string[] = ['host', call.upstreamHost || host];
  let userAgent = false;
  let forwardedHost = false;
  let forwardedProto = false;
  let chain = '';
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at]!.toLowerCase();
    const value = flat[at + 1]!;
    if (hopByHop.has(name) || (ours.has(name) && !suppressedHeaders?.has(name))) {
      if (name === 'te' && value.toLowerCase() === 'trailers') out.push('te', 'trailers');
      else if (name === 'x-forwarded-for') chain += `${value}, `;
      continue;
    }
    if (name === 'user-agent') userAgent = true;
    else if (name === 'x-forwarded-host') forwardedHost = true;
    else if (name === 'x-forwarded-proto') forwardedProto = true;
    out.push(flat[at]!, value);
  }
  if (!userAgent) out.push('User-Agent', 'Gatewright');
  if (!suppressedHeaders?.has('x-forwarded-for')) out.push('X-Forwarded-For', chain + call.peer.address);
  if (!forwardedHost && !suppressedHeaders?.has('x-forwarded-host')) out.push('X-Forwarded-Host', call.host);
  if (!forwardedProto && !suppressedHeaders?.has('x-forwarded-proto'))
    out.push('X-Forwarded-Proto', call.peer.isTls ? 'https' : 'http');
  if (!suppressedHeaders?.has('x-real-ip')) out.push('X-Real-IP', call.clientAddress);
  return out;
}
