import { createRedisConnection, type RedisConnectionOptions } from './redis-connection.ts';
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
  const pendingRemovals = new Set<string>();
  const connection = createRedisConnection({ ...rest, replay: removePending });
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

  function remove(name: string): void {
    pendingRemovals.add(toKey(name));
    if (pendingRemovals.size > maxPendingRemovals) pendingRemovals.delete(pendingRemovals.values().next().value!);
    // A failure trips the breaker, and the replay that closes it removes what is still pending.
    if (connection.isReady()) removePending().catch(() => undefined);
  }

  async function removePending(): Promise<void> {
    while (pendingRemovals.size > 0) {
      const keys = [...pendingRemovals.values().take(removalsPerCommand)];
      await connection.sendCommand(['UNLINK', ...keys]);
      for (const key of keys) pendingRemovals.delete(key);
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
    remove,
    async writePermanently(name, bytes) {
      await connection.sendBinaryCommand(['SET', toKey(name), bytes]);
    },
  };
  return { blobs, waitUntilReady: connection.waitUntilReady, close: connection.close };
}
