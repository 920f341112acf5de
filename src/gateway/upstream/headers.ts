import type { Exchange } from '../exchange.ts';
import { connectionNames, hopByHop } from '../headers.ts';

/** Rebuilt here, never taken from the caller: what came in under these names is the caller's claim. */
const forwarding = new Set([
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-real-ip',
  'forwarded',
]);

/** Speak to this gateway, not to whoever is behind it. */
const ours = new Set(['host', 'content-length', 'expect']);

/**
 * The headers that go upstream, as a flat list: the caller's, without those of its connection and of forwarding, then ours. A name with
 * `_` for `-` counts as the name, so that no spelling gets past an upstream that takes them for the same.
 */
export function upstreamHeaders(call: Exchange, host: string, trusted: boolean): string[] {
  const { flat } = call.headers;
  const named = connectionNames(call.headers);
  const out: string[] = ['host', host];
  let userAgent = false;
  let chain = '';
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at]!.toLowerCase();
    if (hopByHop.has(name) || ours.has(name) || named?.has(name)) {
      if (name === 'te' && flat[at + 1]!.toLowerCase() === 'trailers') out.push('te', 'trailers');
      continue;
    }
    const plain = name.includes('_') ? name.replaceAll('_', '-') : name;
    if (forwarding.has(plain)) {
      if (trusted && plain === 'x-forwarded-for') chain = chain ? `${chain}, ${flat[at + 1]}` : flat[at + 1]!;
      continue;
    }
    if (name === 'user-agent') userAgent = true;
    out.push(flat[at]!, flat[at + 1]!);
  }
  if (!userAgent) out.push('User-Agent', 'Gatewright');
  out.push(
    'X-Forwarded-For',
    chain ? `${chain}, ${call.peer.address}` : call.peer.address,
    'X-Forwarded-Host',
    call.host,
    'X-Forwarded-Proto',
    call.peer.secure ? 'https' : 'http',
    'X-Real-IP',
    call.clientAddress,
  );
  return out;
}
