import type { Dispatcher } from 'undici';
import { TimeoutQueue } from '#base/timeout-queue.ts';
import { isBidirectional } from '../http/grpc.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuseAsText } from '../pipeline/refusals.ts';
import type { ResponseWriter } from '../pipeline/response-writer.ts';
import type { UpstreamAddress } from '../pipeline/upstream-address.ts';
import type { ReleasePreread } from './body-preread.ts';
import type { ConnectionOptionsFor, UpstreamConnectionOptions } from './connection-options.ts';
import { buildUpstreamPath } from './load-balancer.ts';
import type { UpstreamPool, UpstreamPools } from './pools.ts';
import { type ProxyEvents, ProxyRequest, toRefusalCode } from './proxy-request.ts';
import type { ProxyServices } from './services.ts';
import { Tunnel } from './tunnel.ts';
import { buildUpstreamHeaders } from './upstream-headers.ts';

/**
 * Sends a request upstream, proxied or tunnelled. `orgId`: organisation for admission; empty where one has the gateway
 * to itself. A rejection, like a throw, is a bug of the gateway.
 */
export type Send = (
  call: Exchange,
  api: ProxiedApi,
  address: UpstreamAddress,
  writer: ResponseWriter,
  orgId: string,
) => Promise<void> | void;

/** The part of an API that says how its upstreams are reached. */
export interface ProxiedApi {
  readonly connectionOptionsFor: ConnectionOptionsFor;
  readonly stripsListenPath: boolean;
  readonly preservesTrailingSlash: boolean;
  readonly preservesHost: boolean;
}

interface UpstreamRequest {
  readonly call: Exchange;
  readonly api: ProxiedApi;
  readonly address: UpstreamAddress;
  readonly writer: ResponseWriter;
  readonly connection: UpstreamConnectionOptions;
  readonly orgId: string;
}

interface Options extends Dispatcher.DispatchOptions {
  readonly servername: string;
}

interface SendContext {
  readonly pools: UpstreamPools;
  readonly events: ProxyEvents;
  readonly defaultTimeoutMs: number;
  readonly bufferingTimeouts: TimeoutQueue;
  readonly closeTimeoutMs: number;
}

/** Closing a WebSocket takes a round trip; at most half of the shutdown grace time. */
const maxCloseTimeoutMs = 5000;

export function createSender({ settings }: Pick<ProxyServices, 'settings'>, pools: UpstreamPools, events: ProxyEvents) {
  const defaultTimeoutMs = settings['upstream.timeout_ms'];
  const context: SendContext = {
    pools,
    events,
    defaultTimeoutMs,
    bufferingTimeouts: new TimeoutQueue(defaultTimeoutMs),
    closeTimeoutMs: Math.min(maxCloseTimeoutMs, settings['shutdown.grace_seconds'] * 500),
  };

  /**
   * Request buffering for HTTP/1.1 upstreams, where a slow upload holds a connection. HTTP/2 requests start at once:
   * their bodies may be bidirectional streams, and connections are multiplexed.
   */
  async function buffer(request: UpstreamRequest, pool: UpstreamPool): Promise<void> {
    const { call, writer } = request;
    let releasePreread: ReleasePreread | undefined;
    try {
      if (await pool.isHttp2) {
        if (isBidirectional(call.receivedMethod, call.headers)) call.body.liftMinRate?.();
      } else releasePreread = await pools.preread.read(call.body);
    } catch (error) {
      events.onFailure(call, writer, toRefusalCode(call, error as Error), error as Error);
      return;
    }
    try {
      dispatchRequest(context, request, pool, releasePreread);
    } catch (error) {
      releasePreread?.(false);
      throw error;
    }
  }

  const send: Send = (call, api, address, writer, orgId) => {
    const connection = api.connectionOptionsFor(address);
    const request: UpstreamRequest = { call, api, address, writer, connection, orgId };
    if (call.upgrade !== '') return dispatchRequest(context, request, undefined);
    const pool = pools.get(address.origin, connection, address.http2);
    if (call.body.stream !== undefined) return buffer(request, pool);
    dispatchRequest(context, request, pool);
  };
  return send;
}

function dispatchRequest(
  context: SendContext,
  request: UpstreamRequest,
  pool: UpstreamPool | undefined,
  releasePreread?: ReleasePreread,
): void {
  const { pools, events, defaultTimeoutMs, bufferingTimeouts, closeTimeoutMs } = context;
  const { call, api, address, writer, connection, orgId } = request;
  const host = api.preservesHost ? (call.headers.get('host') ?? address.host) : address.host;
  const path = buildUpstreamPath(call, address, api.stripsListenPath, api.preservesTrailingSlash);
  const headers = buildUpstreamHeaders(call, host);
  const method = call.upstreamMethod ?? call.method;
  const { body, enforcedTimeout } = call;
  if (body.length !== undefined && !body.isEmpty) headers.push('content-length', String(body.length));
  call.sign?.(headers, method, path);
  if (!pool) {
    call.upstreamStartedAt = performance.now();
    const open = () => pools.open(address, connection);
    const timeoutMs = enforcedTimeout?.timeoutMs ?? defaultTimeoutMs;
    new Tunnel(call, writer, events, { open, path, headers, timeoutMs, closeTimeoutMs }).send();
    return;
  }
  const options: Options = {
    origin: address.origin,
    path,
    method: method as Dispatcher.HttpMethod,
    headers,
    body: (body.bytes ?? body.stream ?? null) as Dispatcher.DispatchOptions['body'],
    servername: address.host,
    // An enforced timeout covers the whole request; undici then has none.
    headersTimeout: enforcedTimeout ? 0 : null,
  };
  new ProxyRequest(call, writer, events, pool, options, bufferingTimeouts).send(orgId, releasePreread);
}

export const noHealthyHostResponse = (call: Exchange): GatewayResponse => refuseAsText(call, 'upstream_hosts_down');
