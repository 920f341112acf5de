import { toLowerName } from '../http/header-names.ts';
import { hopByHopHeaders } from '../http/headers.ts';
import type { Exchange } from '../pipeline/exchange.ts';

/** Headers of the client connection that the gateway sets itself for the upstream. */
const gatewayHeaders: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'expect',
  'x-real-ip',
  'x-forwarded-for',
]);

/**
 * Upstream headers as a flat list: end-to-end headers of the request, then those of the gateway. Forwarding headers of
 * untrusted clients were removed on arrival; remaining ones are of a trusted proxy or a step.
 */
export function buildUpstreamHeaders(call: Exchange, host: string): string[] {
  const { suppressedHeaders } = call;
  const { flat } = call.headers;
  const out: string[] = ['host', call.upstreamHost || host];
  let hasUserAgent = false;
  let hasForwardedHost = false;
  let hasForwardedProto = false;
  let forwardedFor = '';
  for (let i = 0; i < flat.length; i += 2) {
    const name = toLowerName(flat[i]!);
    const value = flat[i + 1]!;
    if (hopByHopHeaders.has(name) || (gatewayHeaders.has(name) && !suppressedHeaders?.has(name))) {
      if (name === 'te' && value.toLowerCase() === 'trailers') out.push('te', 'trailers');
      else if (name === 'x-forwarded-for') forwardedFor += `${value}, `;
      continue;
    }
    if (name === 'user-agent') hasUserAgent = true;
    else if (name === 'x-forwarded-host') hasForwardedHost = true;
    else if (name === 'x-forwarded-proto') hasForwardedProto = true;
    out.push(flat[i]!, value);
  }
  if (!hasUserAgent) out.push('User-Agent', 'Gatewright');
  if (!suppressedHeaders?.has('x-forwarded-for')) out.push('X-Forwarded-For', forwardedFor + call.peer.address);
  if (!hasForwardedHost && !suppressedHeaders?.has('x-forwarded-host')) out.push('X-Forwarded-Host', call.host);
  if (!hasForwardedProto && !suppressedHeaders?.has('x-forwarded-proto'))
    out.push('X-Forwarded-Proto', call.peer.isTls ? 'https' : 'http');
  if (!suppressedHeaders?.has('x-real-ip')) out.push('X-Real-IP', call.clientAddress);
  return out;
}
