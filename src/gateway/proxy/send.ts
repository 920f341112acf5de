import type { Dispatcher } from 'undici';
import { isBidirectional } from '../http/grpc.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refusePlainly } from '../pipeline/refusals.ts';
import type { ResponseWriter } from '../pipeline/response-writer.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import type { Api } from '../routing/api.ts';
import type { LetGo } from './body-preread.ts';
import type { Link } from './connection-options.ts';
import { type Destination, upstreamPath } from './load-balancer.ts';
import type { UpstreamPool, UpstreamPools } from './pools.ts';
import { Forwarding, type Receiver, refusalOf } from './proxy-request.ts';
import { Deadlines } from './timeout-queue.ts';
import { Tunnel } from './tunnel.ts';
import { upstreamHeaders } from './upstream-headers.ts';

/**
 * Sends a call on its way, whatever protocol it goes on in. `orgId` is the organisation that the request counts for at the
 * upstream; empty where there is one alone. A promise rejects where a call without one throws: by a fault of the gateway.
 */
export type Sending = (
  call: Exchange,
  api: Api,
  destination: Destination,
  writer: ResponseWriter,
  orgId: string,
) => Promise<void> | void;

interface Outgoing {
  readonly call: Exchange;
  readonly api: Api;
  readonly destination: Destination;
  readonly writer: ResponseWriter;
  readonly link: Link;
  readonly orgId: string;
}

interface Options extends Dispatcher.DispatchOptions {
  readonly servername: string;
}

/** Closing handshakes of WebSockets take a round trip; within half of the grace time, whatever the other end does. */
const maxCloseTimeoutMs = 5000;

export function sendingOf({ settings }: Pick<StepServices, 'settings'>, pools: UpstreamPools, receiver: Receiver) {
  const usualMs = settings['upstream.timeout_ms'];
  const heldWithin = new Deadlines(usualMs);
  const closeTimeoutMs = Math.min(maxCloseTimeoutMs, settings['shutdown.grace_seconds'] * 500);

  function dispatch(request: Outgoing, pool: UpstreamPool | undefined, letGo?: LetGo): void {
    const { call, api, destination, writer, link, orgId } = request;
    const host = api.keepsHost ? (call.headers.get('host') ?? destination.host) : destination.host;
    const path = upstreamPath(call, destination, api.strips, api.keepsSlash);
    const headers = upstreamHeaders(call, host);
    const method = call.upstreamMethod ?? call.method;
    const { body, enforcedTimeout } = call;
    if (body.length !== undefined && !body.isEmpty) headers.push('content-length', String(body.length));
    call.sign?.(headers, method, path);
    if (!pool) {
      call.upstreamStartedAt = performance.now();
      const open = () => pools.open(destination, link);
      const timeoutMs = enforcedTimeout?.ms ?? usualMs;
      new Tunnel(call, writer, receiver, { open, path, headers, timeoutMs, closeTimeoutMs }).send();
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
      headersTimeout: enforcedTimeout ? 0 : null,
    };
    new Forwarding(call, writer, receiver, pool, options, heldWithin).send(orgId, letGo);
  }

  /**
   * Request buffering in front of HTTP/1.1 upstreams, where a body that is sent slowly holds a connection. Requests to
   * HTTP/2 upstreams go on at once: their bodies may be one half of a conversation, and their connections are shared.
   */
  async function buffer(request: Outgoing, pool: UpstreamPool): Promise<void> {
    const { call, writer } = request;
    let letGo: LetGo | undefined;
    try {
      if (await pool.isHttp2) {
        if (isBidirectional(call.receivedMethod, call.headers)) call.body.liftMinRate?.();
      } else letGo = await pools.preread.read(call.body);
    } catch (error) {
      receiver.onFailure(call, writer, refusalOf(call, error as Error), error as Error);
      return;
    }
    try {
      dispatch(request, pool, letGo);
    } catch (error) {
      letGo?.(false);
      throw error;
    }
  }

  const send: Sending = (call, api, destination, writer, orgId) => {
    const link = api.links(destination);
    const request: Outgoing = { call, api, destination, writer, link, orgId };
    if (call.upgrade !== '') return dispatch(request, undefined);
    const pool = pools.get(destination.origin, link, destination.http2);
    if (call.body.stream !== undefined) return buffer(request, pool);
    dispatch(request, pool);
  };
  return send;
}

/** In the words of balancers. */
export const hostsDown = (call: Exchange): GatewayResponse => refusePlainly(call, 'hosts_down');
