import { KeyValueError, type KeyValues, type KeyValuesOptions } from './key-values.ts';
import { createRedisConnection } from './redis-connection.ts';
import { incrementScript } from './redis-scripts.ts';

const startTimeoutMs = 2000;

/**
 * Key-value store in Redis, over a connection of its own: large values do not delay counters, and commands that Redis
 * rejects do not open the circuit of the counters.
 */
export function createRedisKeyValues({ url, prefix, timeoutMs, log }: Omit<KeyValuesOptions, 'clock'>): KeyValues {
  const connection = createRedisConnection({
    url,
    commandTimeoutMs: timeoutMs,
    replay: async () => undefined,
    onState: (state, cause) =>
      state === 'degraded' && log.warn({ reason: (cause as Error | undefined)?.message }, 'plugin storage unavailable'),
  });
  // Encoded, so that the first colon ends the owner.
  const toKey = (owner: string, key: string) => `${prefix}kv:${encodeURIComponent(owner)}:${key}`;

  async function run<T>(command: () => Promise<T>): Promise<T> {
    await connection.waitUntilReady(startTimeoutMs);
    if (!connection.isReady()) throw new KeyValueError('the storage of plugins is not available');
    try {
      return await command();
    } catch {
      // The circuit breaker has reported the cause.
      throw new KeyValueError('the storage of plugins is not available');
    }
  }
  const send = (...args: string[]) => run(() => connection.sendCommand(args));

  return {
    get: async (owner, key) => ((await send('GET', toKey(owner, key))) as string | null) ?? undefined,
    async set(owner, key, value, { ttlSeconds, isNewOnly }) {
      const expiry = ttlSeconds === 0 ? [] : ['EX', String(ttlSeconds)];
      return (await send('SET', toKey(owner, key), value, ...expiry, ...(isNewOnly ? ['NX'] : []))) !== null;
    },
    remove: async (owner, key) => (await send('DEL', toKey(owner, key))) === 1,
    async readTtl(owner, key) {
      const ttlMs = (await send('PTTL', toKey(owner, key))) as number;
      return ttlMs < 0 ? ttlMs : Math.ceil(ttlMs / 1000);
    },
    async increment(owner, key) {
      const [value] = await run(() => connection.runScript(incrementScript, toKey(owner, key), []));
      if (value === undefined) throw new KeyValueError('the value is not an integer, or too large');
      return String(value);
    },
    close: connection.close,
  };
}
