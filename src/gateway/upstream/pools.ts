import { type Dispatcher, Pool } from 'undici';

export interface PoolOptions {
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** Sockets to one origin this thread may hold. */
  readonly connections: number;
}

/** Origins kept at once; the one used longest ago is closed first. */
const poolsKept = 2000;

/** Kept connections to upstreams, one pool for each origin and set of TLS options. */
export function upstreamPools(options: PoolOptions) {
  const pools = new Map<string, Pool>();
  return {
    get(origin: string): Dispatcher {
      const known = pools.get(origin);
      if (known) return known;
      const pool = new Pool(origin, {
        connections: options.connections,
        pipelining: 1,
        connect: { timeout: options.connectTimeoutMs },
        headersTimeout: options.headersTimeoutMs,
        bodyTimeout: 0,
        keepAliveTimeout: 30_000,
        keepAliveMaxTimeout: 600_000,
      });
      if (pools.size >= poolsKept) {
        const [oldest, idle] = pools.entries().next().value!;
        pools.delete(oldest);
        void idle.close();
      }
      pools.set(origin, pool);
      return pool;
    },
    async close(): Promise<void> {
      await Promise.all([...pools.values()].map(pool => pool.destroy()));
    },
  };
}

export type UpstreamPools = ReturnType<typeof upstreamPools>;
