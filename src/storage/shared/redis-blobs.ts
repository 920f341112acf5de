import { createRedisConnection, type RedisConnection, type RedisConnectionOptions } from './redis-connection.ts';
import type { Blobs } from './shared.ts';

export interface RedisBlobsOptions extends Pick<RedisConnectionOptions, 'url' | 'commandTimeoutMs' | 'onState'> {
  readonly prefix: string;
}

/** Bytes in flight to Redis; further writes are dropped, since Redis is slower than they arrive. */
const maxInFlightBytes = 16_777_216;
/** Removals that wait for Redis; beyond this the oldest are dropped, and their blobs live until they expire. */
const maxPendingRemovals = 100_000;
const removalsPerCommand = 1000;

/**
 * Blobs in Redis, over a connection of their own: large values do not delay counters, and a Redis that is full and
 * rejects blobs still counts.
 */
export function createRedisBlobs({ prefix, ...rest }: RedisBlobsOptions) {
  const removals = createRemovals(() => connection);
  const connection: RedisConnection = createRedisConnection({ ...rest, replay: removals.flush });
  const toKey = (name: string) => `${prefix}b:${name}`;
  let inFlightBytes = 0;

  /** A failure trips the breaker of the connection, which reports it; a missing blob is normal. */
  async function attempt(args: readonly (string | Buffer)[]): Promise<unknown> {
    if (!connection.isReady()) return undefined;
    try {
      return await connection.sendBinaryCommand(args);
    } catch {
      return undefined;
    }
  }

  const blobs: Blobs = {
    async read(names) {
      const found = await attempt(['MGET', ...names.map(toKey)]);
      return (found as (Buffer | null)[] | undefined)?.map(it => it ?? undefined);
    },
    write(name, bytes, ttlMs) {
      const expiresInMs = Math.floor(ttlMs);
      if (expiresInMs <= 0 || inFlightBytes + bytes.length > maxInFlightBytes) return;
      inFlightBytes += bytes.length;
      void attempt(['SET', toKey(name), bytes, 'PX', String(expiresInMs)]).then(() => {
        inFlightBytes -= bytes.length;
      });
    },
    remove: name => removals.add(toKey(name)),
    async writePermanently(name, bytes) {
      await connection.sendBinaryCommand(['SET', toKey(name), bytes]);
    },
  };
  return { blobs, waitUntilReady: connection.waitUntilReady, close: connection.close };
}

/** Removals of keys, one command at a time; those that fail, or wait for Redis, are flushed before the circuit closes. */
function createRemovals(connection: () => RedisConnection) {
  const pending = new Set<string>();
  let isFlushing = false;

  async function flush(): Promise<void> {
    while (pending.size > 0) {
      const keys = [...pending.values().take(removalsPerCommand)];
      for (const key of keys) pending.delete(key);
      try {
        await connection().sendCommand(['UNLINK', ...keys]);
      } catch (error) {
        for (const key of keys) pending.add(key);
        throw error;
      }
    }
  }

  function startFlush(): void {
    isFlushing = true;
    flush().then(
      () => {
        isFlushing = false;
        if (pending.size > 0) startFlush();
      },
      // The failure tripped the breaker, which reports it.
      () => {
        isFlushing = false;
      },
    );
  }

  return {
    flush,
    add(key: string): void {
      pending.add(key);
      if (pending.size > maxPendingRemovals) pending.delete(pending.values().next().value!);
      if (connection().isReady() && !isFlushing) startFlush();
    },
  };
}
