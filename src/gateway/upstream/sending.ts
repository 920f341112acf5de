import type { Dispatcher } from 'undici';
import type { Answer } from '../answer.ts';
import type { Api } from '../api.ts';
import type { Exchange } from '../exchange.ts';
import { refusePlainly } from '../refusals.ts';
import type { GatewayTools } from '../tools.ts';
import type { Sink } from '../transport/sink.ts';
import { Deadlines } from './deadlines.ts';
import { Forwarding, type Receiver } from './forward.ts';
import { upstreamHeaders } from './headers.ts';
import type { UpstreamPools } from './pools.ts';
import { type Destination, upstreamPath } from './target.ts';
import { Tunnel } from './tunnel.ts';

/** Sends a call on its way, whatever protocol it goes on in. */
export type Sending = (call: Exchange, api: Api, destination: Destination, sink: Sink) => void;

interface Options extends Dispatcher.DispatchOptions {
  readonly servername: string;
}

/** Closing handshakes of WebSockets take a round trip; within half of the grace time, whatever the other end does. */
const maxCloseTimeoutMs = 5000;

export function sendingOf({ settings }: Pick<GatewayTools, 'settings'>, pools: UpstreamPools, receiver: Receiver) {
  const usualMs = settings['upstream.timeout_ms'];
  const heldWithin = new Deadlines(usualMs);
  const closeTimeoutMs = Math.min(maxCloseTimeoutMs, settings['shutdown.grace_seconds'] * 500);

  const send: Sending = (call, api, destination, sink) => {
    const host = api.keepsHost ? (call.headers.get('host') ?? destination.host) : destination.host;
    const path = upstreamPath(call, destination, api.strips, api.keepsSlash);
    const headers = upstreamHeaders(call, host);
    const link = api.links(destination);
    const method = call.upstreamMethod ?? call.method;
    const { body, deadlines } = call;
    if (body.length !== undefined && !body.isEmpty) headers.push('content-length', String(body.length));
    call.sign?.(headers, method, path);
    call.upstreamStartedAt = performance.now();
    if (call.upgrade !== '') {
      const open = () => pools.open(destination, link);
      const timeoutMs = deadlines?.ms ?? usualMs;
      new Tunnel(call, sink, receiver, { open, path, headers, timeoutMs, closeTimeoutMs }).send();
      return;
    }
    const options: Options = {
      origin: destination.origin,
      path,
      method: method as Dispatcher.HttpMethod,
      headers,
      body: (body.bytes ?? body.stream ?? null) as Dispatcher.DispatchOptions['body'],
      servername: destination.host,
      // Who has a time of its own is watched by the clock, from the first moment to the last.
      headersTimeout: deadlines ? 0 : null,
    };
    const pool = pools.get(destination.origin, link, destination.http2);
    new Forwarding(call, sink, receiver, pool, options, heldWithin).send();
  };
  return send;
}

/** In the words of balancers. */
export const hostsDown = (call: Exchange): Answer => refusePlainly(call, 'hosts_down');
