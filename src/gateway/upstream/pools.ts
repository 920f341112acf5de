import type { Socket } from 'node:net';
import { type Dispatcher, H2CClient, Pool } from 'undici';
import { connectorOf, proxyHeaders } from './connect.ts';
import { type Link, ordinaryLink } from './link.ts';
import type { Destination } from './target.ts';

export interface PoolOptions {
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** Sockets to one origin this thread may hold. */
  readonly connections: number;
  /** Lets upstreams behind TLS choose HTTP/2. */
  readonly http2?: boolean;
}

/** Pools kept at once; the one used longest ago is closed first. */
const poolsKept = 2000;

/** Kept connections to upstreams, one pool for each origin and link. */
export function upstreamPools(options: PoolOptions) {
  const pools = new Map<string, Dispatcher>();
  const connectOptions = { timeoutMs: options.connectTimeoutMs, allowHttp2: options.http2 === true };

  function poolOf(origin: string, link: Link, http2: boolean): Dispatcher {
    const common = {
      connections: options.connections,
      headersTimeout: options.headersTimeoutMs,
      bodyTimeout: 0,
      keepAliveTimeout: 30_000,
      keepAliveMaxTimeout: 600_000,
    };
    if (http2)
      return new Pool(origin, {
        ...common,
        connections: 1,
        connect: { timeout: options.connectTimeoutMs },
        factory: (at, given) =>
          new H2CClient(at, { ...given, connect: { timeout: options.connectTimeoutMs } } as object),
      });
    if (link.proxy && origin.startsWith('http:')) return forwardProxy(new Pool(link.proxy.origin, common), link.proxy);
    return new Pool(origin, {
      ...common,
      pipelining: 1,
      allowH2: connectOptions.allowHttp2,
      connect: connectorOf(link, connectOptions),
    });
  }

  return {
    get(origin: string, link: Link = ordinaryLink, http2 = false): Dispatcher {
      const key = link.digest === '' && !http2 ? origin : `${http2 ? 'h2c ' : ''}${origin} ${link.digest}`;
      let pool = pools.get(key);
      if (pool) {
        if (pools.size > poolsKept / 2) touched(pools, key, pool);
        return pool;
      }
      pool = poolOf(origin, link, http2);
      if (pools.size >= poolsKept) {
        const [oldest, idle] = pools.entries().next().value!;
        pools.delete(oldest);
        void idle.close();
      }
      pools.set(key, pool);
      return pool;
    },
    /** A connection that belongs to whoever asked for it, and never comes back to a pool. */
    open({ origin }: Pick<Destination, 'origin'>, link: Link): Promise<Socket> {
      const { protocol, hostname, port, host } = new URL(origin);
      const connect = connectorOf(link, { ...connectOptions, allowHttp2: false });
      return new Promise((resolve, reject) =>
        connect({ protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port, host }, (error, socket) =>
          error ? reject(error) : resolve(socket!),
        ),
      );
    },
    async close(): Promise<void> {
      await Promise.all([...pools.values()].map(pool => pool.destroy()));
    },
  };
}

/** Order is age. While there is room for all, nobody needs to know it. */
function touched(pools: Map<string, Dispatcher>, key: string, pool: Dispatcher): void {
  pools.delete(key);
  pools.set(key, pool);
}

/** A proxy takes calls in the clear under their whole address. */
function forwardProxy(pool: Pool, proxy: URL): Dispatcher {
  const extra = Object.entries(proxyHeaders(proxy)).flat();
  const dispatch: Pool['dispatch'] = (given, handler) =>
    Pool.prototype.dispatch.call(
      pool,
      {
        ...given,
        origin: proxy.origin,
        path: `${given.origin}${given.path}`,
        headers: [...(given.headers as string[]), ...extra],
      },
      handler,
    );
  return Object.assign(pool, { dispatch });
}

export type UpstreamPools = ReturnType<typeof upstreamPools>;
