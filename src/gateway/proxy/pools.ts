import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Pool } from 'undici';
import { type LookupAll, refuseHost } from '#base/address-policy.ts';
import { Admission } from './admission.ts';
import { createPreread } from './body-preread.ts';
import { type AlpnMode, createConnector, createGuardedConnector, proxyHeaders } from './connect.ts';
import type { UpstreamConnectionOptions } from './connection-options.ts';
import { createHttp2Client, type UpstreamDispatcher } from './http2-client.ts';
import type { UpstreamAddress } from './load-balancer.ts';
import { TimeoutQueue } from './timeout-queue.ts';

export interface PoolOptions {
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** Sockets to one origin this thread may hold. */
  readonly maxConnections: number;
  /** Requests under way at once to one origin over HTTP/2, where the upstream announces no smaller number. */
  readonly maxStreams: number;
  /** Requests that may wait for one of those, and for how long. */
  readonly maxWaiting: number;
  readonly waitTimeoutMs: number;
  /** How much of one origin one client network, key or organisation may hold. */
  readonly maxSharePercent: number;
  /** Bytes of a request body read before it gets a connection, of one request and of all together. */
  readonly prereadBytes: number;
  readonly maxPrereadBytes: number;
  /** Lets upstreams behind TLS choose HTTP/2. */
  readonly http2?: boolean;
  /** How names are resolved; by the system unless given. */
  readonly resolve?: LookupAll;
}

/** The connections to one origin over one link, behind their admission control. */
export interface UpstreamPool extends UpstreamDispatcher {
  readonly admission: Admission;
  /** Whether requests share its connections; a promise until the upstream has chosen. */
  readonly isHttp2: boolean | Promise<boolean>;
}

/** Pools kept at once; the one used longest ago is closed first. */
const maxPools = 2000;

/** Kept connections to upstreams, one pool for each origin and link. */
export function createUpstreamPools(options: PoolOptions) {
  const pools = new Map<string, UpstreamPool>();
  const { connectTimeoutMs: timeoutMs, headersTimeoutMs, resolve, maxWaiting, maxSharePercent, maxStreams } = options;
  const waitTimeouts = new TimeoutQueue(options.waitTimeoutMs);
  const createAdmission = (maxActive: number) =>
    new Admission({ maxActive, maxWaiting, maxSharePercent, waitTimeouts });

  /** A connection that belongs to whoever asked for it. */
  function openSocket(origin: string, connection: UpstreamConnectionOptions, alpn: AlpnMode): Promise<Socket> {
    const { protocol, hostname, port, host } = new URL(origin);
    const connect = createConnector(connection, { timeoutMs, alpn, resolve });
    const bare = hostname.replace(/^\[|\]$/g, '');
    const { promise, resolve: done, reject } = Promise.withResolvers<Socket>();
    connect({ protocol, hostname: bare, port, host }, (error, socket) => (error ? reject(error) : done(socket!)));
    return promise;
  }

  function createPool(origin: string, connection: UpstreamConnectionOptions): UpstreamPool {
    const admission = createAdmission(options.maxConnections);
    const isSecure = origin.startsWith('https:');
    const common = {
      connections: options.maxConnections,
      headersTimeout: headersTimeoutMs,
      bodyTimeout: 0,
      keepAliveTimeout: 30_000,
      keepAliveMaxTimeout: 600_000,
      pipelining: 1,
    };
    if (connection.proxy && !isSecure) {
      const connect = createGuardedConnector(connection.policy, { resolve }, { timeout: timeoutMs });
      const proxied = withForwardProxy(
        new Pool(connection.proxy.origin, { ...common, connect }),
        connection.proxy,
        checkAddress(origin, connection),
      );
      return Object.assign(proxied, { admission, isHttp2: false });
    }
    const pool = new Pool(origin, {
      ...common,
      connect: createConnector(connection, { timeoutMs, alpn: 'http1', resolve }),
    });
    if (!options.http2 || !isSecure) return Object.assign(pool, { admission, isHttp2: false });
    const onMaxStreams = (announced: number) => admission.resize(Math.min(announced, maxStreams));
    const negotiated = createNegotiatedPool(
      pool,
      () => openSocket(origin, connection, 'both'),
      open => createHttp2Client(origin, { open, headersTimeoutMs, onMaxStreams }),
    );
    return Object.assign(negotiated, { admission });
  }

  function createH2cPool(origin: string, connection: UpstreamConnectionOptions): UpstreamPool {
    const admission = createAdmission(maxStreams);
    const onMaxStreams = (announced: number) => admission.resize(Math.min(announced, maxStreams));
    const open = () => openSocket(origin, connection, 'http1');
    return Object.assign(createHttp2Client(origin, { open, headersTimeoutMs, onMaxStreams }), {
      admission,
      isHttp2: true,
    });
  }

  return {
    /** `http2`: spoken without asking first, over connections in the clear. */
    get(origin: string, connection: UpstreamConnectionOptions, http2 = false): UpstreamPool {
      const key =
        connection.poolKey === '' && !http2 ? origin : `${http2 ? 'h2c ' : ''}${origin} ${connection.poolKey}`;
      let pool = pools.get(key);
      if (pool) {
        if (pools.size > maxPools / 2) markUsed(pools, key, pool);
        return pool;
      }
      pool = http2 ? createH2cPool(origin, connection) : createPool(origin, connection);
      if (pools.size >= maxPools) {
        const [oldest, idle] = pools.entries().next().value!;
        pools.delete(oldest);
        void idle.close();
      }
      pools.set(key, pool);
      return pool;
    },
    preread: createPreread(options.prereadBytes, options.maxPrereadBytes),
    /** A connection that never comes back to a pool. */
    open: ({ origin }: Pick<UpstreamAddress, 'origin'>, connection: UpstreamConnectionOptions): Promise<Socket> =>
      openSocket(origin, connection, 'http1'),
    async close(): Promise<void> {
      await Promise.all([...pools.values()].map(pool => pool.destroy()));
    },
  };
}

/**
 * An upstream that may choose its protocol is asked with the first call, and what it chose holds as long as its connections
 * can be opened.
 */
function createNegotiatedPool(
  pool: Pool,
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
    throw new Error('the upstream no longer speaks HTTP/2');
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
        error => handler.onError?.(error as Error),
      );
      return true;
    },
    close: () => Promise.all([pool.close(), http2.close()]).then(() => undefined),
    destroy: () => Promise.all([pool.destroy(), http2.destroy()]).then(() => undefined),
  };
  return negotiated;
}

/** Order is age. While there is room for all, nobody needs to know it. */
function markUsed(pools: Map<string, UpstreamPool>, key: string, pool: UpstreamPool): void {
  pools.delete(key);
  pools.set(key, pool);
}

function checkAddress(origin: string, { policy }: UpstreamConnectionOptions): Error | undefined {
  const { hostname, port } = new URL(origin);
  return refuseHost(policy, hostname, Number(port || '80'));
}

/** A proxy takes calls in the clear under their whole address. */
function withForwardProxy(pool: Pool, proxy: URL, addressError: Error | undefined): Pool {
  const extra = Object.entries(proxyHeaders(proxy)).flat();
  const dispatch: Pool['dispatch'] = (options, handler) => {
    if (addressError) {
      queueMicrotask(() => handler.onError?.(addressError));
      return true;
    }
    return Pool.prototype.dispatch.call(
      pool,
      {
        ...options,
        origin: proxy.origin,
        path: `${options.origin}${options.path}`,
        headers: [...(options.headers as string[]), ...extra],
      },
      handler,
    );
  };
  return Object.assign(pool, { dispatch });
}

export type UpstreamPools = ReturnType<typeof createUpstreamPools>;
