import type { OnReadOpts, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import { type LookupAll, refuseHost } from '#base/address-policy.ts';
import { BoundedMap } from '#base/bounded-map.ts';
import { loadUndici } from '#base/lazy-packages.ts';
import { TimeoutQueue } from '#base/timeout-queue.ts';
import type { HeadLimits } from '../http/http1/head-parser.ts';
import type { UpstreamAddress } from '../pipeline/upstream-address.ts';
import { Admission } from './admission.ts';
import { createPreread } from './body-preread.ts';
import { type AlpnMode, createConnector, createGuardedConnector, proxyHeaders, toConnectTarget } from './connect.ts';
import type { UpstreamConnectionOptions } from './connection-options.ts';
import { createUpstreamError } from './http1/errors.ts';
import { Http1Pool } from './http1/pool.ts';
import { createHttp1SharedState } from './http1/shared-state.ts';
import { createHttp2Client } from './http2-client.ts';
import { createUndiciDispatcher, type UpstreamDispatcher } from './upstream-dispatcher.ts';

export interface PoolOptions {
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** Sockets to one origin per thread. */
  readonly maxConnections: number;
  /** Concurrent requests to one origin over HTTP/2, unless the upstream announces fewer streams. */
  readonly maxStreams: number;
  /** Queue in front of the pool: size and timeout. */
  readonly maxWaiting: number;
  readonly waitTimeoutMs: number;
  /** Share of one origin that a client network, key or organisation may use. */
  readonly maxSharePercent: number;
  /** Limits of response heads. */
  readonly headLimits: HeadLimits;
  /** Preread of request bodies: per request and in total. */
  readonly prereadBytes: number;
  readonly maxPrereadBytes: number;
  /** Offers HTTP/2 by ALPN. */
  readonly http2?: boolean;
  /** HTTP/1.1 by our own engine, or by undici. */
  readonly http1Engine?: 'native' | 'node';
  /** DNS resolver; that of the system by default. */
  readonly resolve?: LookupAll;
}

/** Connection pool of one origin and connection options, behind its admission control. */
export interface UpstreamPool extends UpstreamDispatcher {
  readonly admission: Admission;
  /** True for HTTP/2; a promise until ALPN has negotiated. */
  readonly isHttp2: boolean | Promise<boolean>;
}

/** Least recently used pools beyond this are closed. */
const maxPools = 2000;

/** Upstream connection pools, one per origin and connection options. */
export function createUpstreamPools(options: PoolOptions) {
  // An evicted pool finishes the requests it has.
  const pools = new BoundedMap<string, UpstreamPool>(maxPools, pool => void pool.close());
  const { openSocket, createPool, createH2cPool } = createPoolFactory(options);

  return {
    /** `http2`: h2c with prior knowledge (RFC 9113, 3.3). */
    get(origin: string, connection: UpstreamConnectionOptions, http2 = false): UpstreamPool {
      const key =
        connection.poolKey === '' && !http2 ? origin : `${http2 ? 'h2c ' : ''}${origin} ${connection.poolKey}`;
      let pool = pools.get(key);
      if (pool) {
        // Order of use matters only where eviction is near.
        if (pools.size > maxPools / 2) pools.touch(key);
        return pool;
      }
      pool = http2 ? createH2cPool(origin, connection) : createPool(origin, connection);
      pools.set(key, pool);
      return pool;
    },
    preread: createPreread(options.prereadBytes, options.maxPrereadBytes),
    /** Opens a socket that is never pooled. */
    open: ({ origin }: Pick<UpstreamAddress, 'origin'>, connection: UpstreamConnectionOptions): Promise<Socket> =>
      openSocket(origin, connection, 'http1'),
    async close(): Promise<void> {
      await Promise.all([...pools.values()].map(pool => pool.destroy()));
    },
  };
}

/** Creates HTTP/1.1 pools; `connect` is given what the sockets of the engine need. */
type Http1PoolFactory = (
  origin: string,
  connect: (onread?: OnReadOpts) => buildConnector.connector,
) => UpstreamDispatcher;

function createHttp1PoolFactory(poolOptions: PoolOptions): Http1PoolFactory {
  const { maxConnections, headersTimeoutMs, http1Engine, headLimits } = poolOptions;
  if (http1Engine === 'native') {
    const shared = createHttp1SharedState({ headersTimeoutMs, headLimits, now: () => performance.now() });
    return (origin, connect) =>
      new Http1Pool(origin, {
        connect: connect(shared.onread),
        maxConnections,
        // Admission control admits as many; the others are requests that were abandoned while connecting.
        maxPending: 2 * maxConnections,
        shared,
      });
  }
  const options = {
    connections: maxConnections,
    headersTimeout: headersTimeoutMs,
    bodyTimeout: 0,
    keepAliveTimeout: 30_000,
    keepAliveMaxTimeout: 600_000,
    pipelining: 1,
    maxHeaderSize: headLimits.maxHeaderBytes,
  };
  return (origin, connect) =>
    createUndiciDispatcher(
      new (loadUndici().Pool)(origin, { ...options, connect: connect() }),
      headLimits,
      headersTimeoutMs,
    );
}

/** Opens sockets and pools to upstreams. */
function createPoolFactory(options: PoolOptions) {
  const { connectTimeoutMs: timeoutMs, headersTimeoutMs, headLimits, resolve, maxStreams } = options;
  const waitTimeouts = new TimeoutQueue(options.waitTimeoutMs);
  const createHttp1 = createHttp1PoolFactory(options);
  const createAdmission = (maxActive: number) =>
    new Admission({
      maxActive,
      maxWaiting: options.maxWaiting,
      maxSharePercent: options.maxSharePercent,
      waitTimeouts,
    });

  /** Opens a socket outside the pools, owned by the caller. */
  function openSocket(origin: string, connection: UpstreamConnectionOptions, alpn: AlpnMode): Promise<Socket> {
    const connect = createConnector(connection, { timeoutMs, alpn, resolve });
    const { promise, resolve: done, reject } = Promise.withResolvers<Socket>();
    connect(toConnectTarget(origin), (error, socket) => (error ? reject(error) : done(socket!)));
    return promise;
  }

  function createPool(origin: string, connection: UpstreamConnectionOptions): UpstreamPool {
    const admission = createAdmission(options.maxConnections);
    const isSecure = origin.startsWith('https:');
    if (connection.proxy && !isSecure) {
      const connectToProxy = (onread?: OnReadOpts) =>
        createGuardedConnector(connection.policy, { resolve }, { timeout: timeoutMs, ...(onread ? { onread } : {}) });
      const proxied = withForwardProxy(
        createHttp1(connection.proxy.origin, connectToProxy),
        connection.proxy,
        checkAddress(origin, connection),
      );
      return Object.assign(proxied, { admission, isHttp2: false });
    }
    const pool = createHttp1(origin, onread =>
      createConnector(connection, { timeoutMs, alpn: 'http1', resolve, onread }),
    );
    if (!options.http2 || !isSecure) return Object.assign(pool, { admission, isHttp2: false });
    const onMaxStreams = (announced: number) => admission.resize(Math.min(announced, maxStreams));
    const negotiated = createNegotiatedPool(
      pool,
      () => openSocket(origin, connection, 'both'),
      open => createHttp2Client(origin, { open, headersTimeoutMs, headLimits, onMaxStreams }),
    );
    return Object.assign(negotiated, { admission });
  }

  function createH2cPool(origin: string, connection: UpstreamConnectionOptions): UpstreamPool {
    const admission = createAdmission(maxStreams);
    const onMaxStreams = (announced: number) => admission.resize(Math.min(announced, maxStreams));
    const open = () => openSocket(origin, connection, 'http1');
    return Object.assign(createHttp2Client(origin, { open, headersTimeoutMs, headLimits, onMaxStreams }), {
      admission,
      isHttp2: true,
    });
  }

  return { openSocket, createPool, createH2cPool };
}

/** ALPN negotiation: the first request probes the protocol, which is used until connecting fails. */
function createNegotiatedPool(
  pool: UpstreamDispatcher,
  open: () => Promise<Socket>,
  client: (open: () => Promise<Socket>) => UpstreamDispatcher,
) {
  let probeSocket: Socket | undefined;
  let chosen: UpstreamDispatcher | undefined;
  const http2 = client(async () => {
    const socket = probeSocket?.destroyed === false ? probeSocket : await open();
    probeSocket = undefined;
    if ((socket as TLSSocket).alpnProtocol === 'h2') return socket;
    socket.destroy();
    chosen = undefined;
    throw createUpstreamError('invalidResponse', 'the upstream no longer supports HTTP/2');
  });
  let negotiation: Promise<UpstreamDispatcher> | undefined;
  async function probeAlpn(): Promise<UpstreamDispatcher> {
    const socket = await open();
    if ((socket as TLSSocket).alpnProtocol !== 'h2') {
      socket.destroy();
      return pool;
    }
    probeSocket = socket;
    return http2;
  }
  function negotiate(): Promise<UpstreamDispatcher> {
    negotiation ??= probeAlpn()
      .then(it => {
        chosen = it;
        return it;
      })
      .finally(() => {
        negotiation = undefined;
      });
    return negotiation;
  }
  const negotiated: UpstreamDispatcher & Pick<UpstreamPool, 'isHttp2'> = {
    get isHttp2() {
      return chosen ? chosen === http2 : negotiate().then(it => it === http2);
    },
    dispatch(options, handler) {
      if (chosen) return chosen.dispatch(options, handler);
      negotiate().then(
        it => it.dispatch(options, handler),
        error => handler.onError(error as Error),
      );
    },
    close: () => Promise.all([pool.close(), http2.close()]).then(() => undefined),
    destroy: () => Promise.all([pool.destroy(), http2.destroy()]).then(() => undefined),
  };
  return negotiated;
}

function checkAddress(origin: string, { policy }: UpstreamConnectionOptions): Error | undefined {
  const { hostname, port } = new URL(origin);
  return refuseHost(policy, hostname, Number(port || '80'));
}

/** Forward proxy for cleartext requests: absolute-form target (RFC 9112, 3.2.2). */
function withForwardProxy(pool: UpstreamDispatcher, proxy: URL, addressError: Error | undefined): UpstreamDispatcher {
  const extra = Object.entries(proxyHeaders(proxy)).flat();
  return {
    dispatch(options, handler) {
      if (addressError) {
        queueMicrotask(() => handler.onError(addressError));
        return;
      }
      pool.dispatch(
        {
          ...options,
          origin: proxy.origin,
          path: `${options.origin}${options.path}`,
          headers: [...options.headers, ...extra],
        },
        handler,
      );
    },
    close: () => pool.close(),
    destroy: () => pool.destroy(),
  };
}

export type UpstreamPools = ReturnType<typeof createUpstreamPools>;
