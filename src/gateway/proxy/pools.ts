import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Pool } from 'undici';
import { type LookupAll, refuseHost } from '#base/address-policy.ts';
import { Admission } from './admission.ts';
import { createPreread } from './body-preread.ts';
import { connectorOf, createGuardedConnector, proxyHeaders, type Ways } from './connect.ts';
import type { Link } from './connection-options.ts';
import { http2Client, type Sender } from './http2-client.ts';
import type { Destination } from './load-balancer.ts';
import { Deadlines } from './timeout-queue.ts';

export interface PoolOptions {
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** Sockets to one origin this thread may hold. */
  readonly connections: number;
  /** Requests under way at once to one origin over HTTP/2, where the upstream announces no smaller number. */
  readonly streams: number;
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
export interface UpstreamPool extends Sender {
  readonly admission: Admission;
  /** Whether requests share its connections; a promise until the upstream has chosen. */
  readonly isHttp2: boolean | Promise<boolean>;
}

/** Pools kept at once; the one used longest ago is closed first. */
const poolsKept = 2000;

/** Kept connections to upstreams, one pool for each origin and link. */
export function upstreamPools(options: PoolOptions) {
  const pools = new Map<string, UpstreamPool>();
  const { connectTimeoutMs: timeoutMs, headersTimeoutMs, resolve, maxWaiting, maxSharePercent, streams } = options;
  const waitTimeouts = new Deadlines(options.waitTimeoutMs);
  const admit = (maxActive: number) => new Admission({ maxActive, maxWaiting, maxSharePercent, waitTimeouts });

  /** A connection that belongs to whoever asked for it. */
  function opened(origin: string, link: Link, ways: Ways): Promise<Socket> {
    const { protocol, hostname, port, host } = new URL(origin);
    const connect = connectorOf(link, { timeoutMs, ways, resolve });
    const bare = hostname.replace(/^\[|\]$/g, '');
    const { promise, resolve: done, reject } = Promise.withResolvers<Socket>();
    connect({ protocol, hostname: bare, port, host }, (error, socket) => (error ? reject(error) : done(socket!)));
    return promise;
  }

  function poolOf(origin: string, link: Link): UpstreamPool {
    const admission = admit(options.connections);
    const isSecure = origin.startsWith('https:');
    const common = {
      connections: options.connections,
      headersTimeout: headersTimeoutMs,
      bodyTimeout: 0,
      keepAliveTimeout: 30_000,
      keepAliveMaxTimeout: 600_000,
      pipelining: 1,
    };
    if (link.proxy && !isSecure) {
      const connect = createGuardedConnector(link.policy, { resolve }, { timeout: timeoutMs });
      const proxied = forwardProxy(
        new Pool(link.proxy.origin, { ...common, connect }),
        link.proxy,
        refusalAt(origin, link),
      );
      return Object.assign(proxied, { admission, isHttp2: false });
    }
    const pool = new Pool(origin, { ...common, connect: connectorOf(link, { timeoutMs, ways: 'http1', resolve }) });
    if (!options.http2 || !isSecure) return Object.assign(pool, { admission, isHttp2: false });
    const onMaxStreams = (most: number) => admission.resize(Math.min(most, streams));
    const either = eitherOf(
      pool,
      () => opened(origin, link, 'both'),
      open => http2Client(origin, { open, headersTimeoutMs, onMaxStreams }),
    );
    return Object.assign(either, { admission });
  }

  function clearHttp2(origin: string, link: Link): UpstreamPool {
    const admission = admit(streams);
    const onMaxStreams = (most: number) => admission.resize(Math.min(most, streams));
    const open = () => opened(origin, link, 'http1');
    return Object.assign(http2Client(origin, { open, headersTimeoutMs, onMaxStreams }), { admission, isHttp2: true });
  }

  return {
    /** `http2`: spoken without asking first, over connections in the clear. */
    get(origin: string, link: Link, http2 = false): UpstreamPool {
      const key = link.digest === '' && !http2 ? origin : `${http2 ? 'h2c ' : ''}${origin} ${link.digest}`;
      let pool = pools.get(key);
      if (pool) {
        if (pools.size > poolsKept / 2) touched(pools, key, pool);
        return pool;
      }
      pool = http2 ? clearHttp2(origin, link) : poolOf(origin, link);
      if (pools.size >= poolsKept) {
        const [oldest, idle] = pools.entries().next().value!;
        pools.delete(oldest);
        void idle.close();
      }
      pools.set(key, pool);
      return pool;
    },
    preread: createPreread(options.prereadBytes, options.maxPrereadBytes),
    /** A connection that never comes back to a pool. */
    open: ({ origin }: Pick<Destination, 'origin'>, link: Link): Promise<Socket> => opened(origin, link, 'http1'),
    async close(): Promise<void> {
      await Promise.all([...pools.values()].map(pool => pool.destroy()));
    },
  };
}

/**
 * An upstream that may choose its protocol is asked with the first call, and what it chose holds as long as its connections
 * can be opened.
 */
function eitherOf(pool: Pool, open: () => Promise<Socket>, client: (open: () => Promise<Socket>) => Sender) {
  let first: Socket | undefined;
  let chosen: Sender | undefined;
  const http2 = client(async () => {
    const socket = first?.destroyed === false ? first : await open();
    first = undefined;
    if ((socket as TLSSocket).alpnProtocol === 'h2') return socket;
    socket.destroy();
    chosen = undefined;
    throw new Error('the upstream no longer speaks HTTP/2');
  });
  let asking: Promise<Sender> | undefined;
  async function ask(): Promise<Sender> {
    const socket = await open();
    if ((socket as TLSSocket).alpnProtocol !== 'h2') {
      socket.destroy();
      return pool;
    }
    first = socket;
    return http2;
  }
  function negotiate(): Promise<Sender> {
    asking ??= ask()
      .then(it => {
        chosen = it;
        return it;
      })
      .finally(() => {
        asking = undefined;
      });
    return asking;
  }
  const either: Sender & Pick<UpstreamPool, 'isHttp2'> = {
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
  return either;
}

/** Order is age. While there is room for all, nobody needs to know it. */
function touched(pools: Map<string, UpstreamPool>, key: string, pool: UpstreamPool): void {
  pools.delete(key);
  pools.set(key, pool);
}

function refusalAt(origin: string, { policy }: Link): Error | undefined {
  const { hostname, port } = new URL(origin);
  return refuseHost(policy, hostname, Number(port || '80'));
}

/** A proxy takes calls in the clear under their whole address. */
function forwardProxy(pool: Pool, proxy: URL, refused: Error | undefined): Pool {
  const extra = Object.entries(proxyHeaders(proxy)).flat();
  const dispatch: Pool['dispatch'] = (given, handler) => {
    if (refused) {
      queueMicrotask(() => handler.onError?.(refused));
      return true;
    }
    return Pool.prototype.dispatch.call(
      pool,
      {
        ...given,
        origin: proxy.origin,
        path: `${given.origin}${given.path}`,
        headers: [...(given.headers as string[]), ...extra],
      },
      handler,
    );
  };
  return Object.assign(pool, { dispatch });
}

export type UpstreamPools = ReturnType<typeof upstreamPools>;
