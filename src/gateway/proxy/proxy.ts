import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Settings } from '#base/settings.ts';
import { TimeoutQueue } from '#base/timeout-queue.ts';
import { isBidirectional } from '../http/grpc.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { handleUpstreamFailure, type Responder } from '../pipeline/respond.ts';
import type { ResponseWriter } from '../pipeline/response-writer.ts';
import type { UpstreamAddress } from '../pipeline/upstream-address.ts';
import type { PrereadBody } from './body-preread.ts';
import type { ConnectionOptionsFor, UpstreamConnectionOptions } from './connection-options.ts';
import { buildUpstreamPath, type LoadBalancer } from './load-balancer.ts';
import type { UpstreamPool, UpstreamPools } from './pools.ts';
import { ProxyRequest } from './proxy-request.ts';
import type { ResponseContext } from './response-context.ts';
import { Tunnel } from './tunnel.ts';
import type { UpstreamRequestOptions } from './upstream-dispatcher.ts';
import { classifyUpstreamFailure } from './upstream-errors.ts';
import { buildUpstreamHeaders } from './upstream-headers.ts';

/** The part of an API that configures connections to its upstreams. */
export interface ProxiedApi {
  readonly connectionOptionsFor: ConnectionOptionsFor;
  readonly stripsListenPath: boolean;
  readonly preservesTrailingSlash: boolean;
  readonly preservesHost: boolean;
}

/** Services and bounds of a thread for upstream requests; created once. */
export interface ProxyContext extends ResponseContext {
  readonly pools: UpstreamPools;
  readonly defaultTimeoutMs: number;
  readonly closeTimeoutMs: number;
}

interface UpstreamRequest {
  readonly call: Exchange;
  readonly api: ProxiedApi;
  readonly address: UpstreamAddress;
  readonly writer: ResponseWriter;
  readonly connection: UpstreamConnectionOptions;
  readonly orgId: string;
}

/** Closing a WebSocket takes a round trip; at most half of the shutdown grace time. */
const maxCloseTimeoutMs = 5000;

export function createProxyContext(settings: Settings, pools: UpstreamPools, responder: Responder): ProxyContext {
  const defaultTimeoutMs = settings['upstream.timeout_ms'];
  return {
    responder,
    maxResponseBytes: settings['gateway.max_response_body_bytes'] || Number.POSITIVE_INFINITY,
    maxBufferedBytes: settings['gateway.max_buffered_body_bytes'],
    bufferingTimeouts: new TimeoutQueue(defaultTimeoutMs),
    pools,
    defaultTimeoutMs,
    closeTimeoutMs: Math.min(maxCloseTimeoutMs, settings['shutdown.grace_seconds'] * 500),
  };
}

/** Upstream address: of a URL rewrite, the only one, or by the load balancer; undefined when no host is healthy. */
export function chooseUpstream(
  call: Exchange,
  {
    fixedAddress,
    loadBalancer,
  }: { readonly fixedAddress: UpstreamAddress | undefined; readonly loadBalancer: LoadBalancer },
): MaybePromise<UpstreamAddress | undefined> {
  return call.rewrittenTarget?.address ?? fixedAddress ?? loadBalancer.next();
}

/**
 * Sends a request upstream, proxied or tunnelled. `orgId`: organisation for admission; empty where one has the gateway
 * to itself. A rejection, like a throw, is a bug of the gateway.
 */
export function proxy(
  context: ProxyContext,
  call: Exchange,
  api: ProxiedApi,
  address: UpstreamAddress,
  writer: ResponseWriter,
  orgId: string,
): Promise<void> | void {
  const connection = api.connectionOptionsFor(address);
  call.upstreamOrigin = address.origin;
  const request: UpstreamRequest = { call, api, address, writer, connection, orgId };
  if (call.upgrade !== '') return openTunnel(context, request);
  const pool = context.pools.get(address.origin, connection, address.http2);
  if (call.body.stream !== undefined && !call.body.replaceReceived()) return sendAfterPreread(context, request, pool);
  sendRequest(context, request, pool);
}

/**
 * Request buffering for HTTP/1.1 upstreams, where a slow upload holds a connection. HTTP/2 requests start at once:
 * their bodies may be bidirectional streams, and connections are multiplexed.
 */
async function sendAfterPreread(context: ProxyContext, request: UpstreamRequest, pool: UpstreamPool): Promise<void> {
  const { call, writer } = request;
  const { preread: prereads } = context.pools;
  let preread: PrereadBody;
  try {
    if (await pool.isHttp2) {
      if (isBidirectional(call.receivedMethod, call.headers)) call.body.liftMinRate?.();
      preread = prereads.hold(call.body);
    } else preread = await prereads.read(call.body);
  } catch (error) {
    const code = classifyUpstreamFailure(call, error as Error);
    return handleUpstreamFailure(context.responder, call, writer, code, error as Error);
  }
  try {
    sendRequest(context, request, pool, preread);
  } catch (error) {
    preread.release(false);
    throw error;
  }
}

function sendRequest(context: ProxyContext, request: UpstreamRequest, pool: UpstreamPool, preread?: PrereadBody): void {
  const { call, address, writer, orgId } = request;
  const { body, enforcedTimeout } = call;
  const method = call.upstreamMethod ?? call.method;
  const path = buildPath(request);
  const options: UpstreamRequestOptions = {
    origin: address.origin,
    path,
    method,
    headers: buildHeaders(request, method, path),
    parsed: call.headers.parsed,
    body: body.bytes ?? body.stream,
    // An enforced timeout covers the whole request.
    hasCallerTimeout: enforcedTimeout !== undefined,
  };
  new ProxyRequest(call, writer, context, pool, options).send(orgId, preread);
}

function openTunnel(context: ProxyContext, request: UpstreamRequest): void {
  const { call, address, writer, connection } = request;
  const path = buildPath(request);
  const method = call.upstreamMethod ?? call.method;
  const headers = buildHeaders(request, method, path);
  call.upstreamStartedAt = performance.now();
  call.trace?.startAttempt(call, { origin: address.origin, path, method, headers });
  new Tunnel(call, writer, context, {
    open: () => context.pools.open(address, connection),
    path,
    headers,
    timeoutMs: call.enforcedTimeout?.timeoutMs ?? context.defaultTimeoutMs,
    closeTimeoutMs: context.closeTimeoutMs,
  }).send();
}

const buildPath = ({ call, api, address }: UpstreamRequest): string =>
  buildUpstreamPath(call, address, api.stripsListenPath, api.preservesTrailingSlash);

function buildHeaders({ call, api, address }: UpstreamRequest, method: string, path: string): string[] {
  const host = api.preservesHost ? (call.headers.get('host') ?? address.host) : address.host;
  const headers = buildUpstreamHeaders(call, host);
  const { body } = call;
  if (body.length !== undefined && !body.isEmpty) headers.push('content-length', String(body.length));
  call.sign?.(headers, method, path);
  return headers;
}
