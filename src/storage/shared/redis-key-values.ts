import { type KeyValueLimits, ownerLimits } from './key-value-limits.ts';
import { KeyValueError, type KeyValues, type KeyValuesOptions } from './key-values.ts';
import { createRedisConnection } from './redis-connection.ts';
import {
  incrementEntryScript,
  readEntryScript,
  readEntryTtlScript,
  removeEntryScript,
  writeEntryScript,
} from './redis-key-value-scripts.ts';
import type { Script } from './redis-scripts.ts';

const startTimeoutMs = 2000;
const isFull = -1;

/**
 * Key-value store in Redis, over a connection of its own: large values do not delay counters, and commands that Redis
 * rejects do not open the circuit of the counters. An owner is one hash, so that a script can bound it.
 */
export function createRedisKeyValues(
  { url, prefix, timeoutMs, log }: Omit<KeyValuesOptions, 'clock'>,
  { maxKeysPerOwner, maxBytesPerOwner }: Pick<KeyValueLimits, 'maxKeysPerOwner' | 'maxBytesPerOwner'> = ownerLimits,
): KeyValues {
  const connection = createRedisConnection({
    url,
    commandTimeoutMs: timeoutMs,
    replay: async () => undefined,
    onState: (state, cause) =>
      state === 'degraded' && log.warn({ reason: (cause as Error | undefined)?.message }, 'plugin storage unavailable'),
  });
  const bounds = [String(maxKeysPerOwner), String(maxBytesPerOwner)];

  /** Runs a script on the hash of an owner; its reply is a list of numbers or texts. */
  async function run(script: Script, owner: string, args: readonly string[]): Promise<readonly unknown[]> {
    await connection.waitUntilReady(startTimeoutMs);
    if (!connection.isReady()) throw new KeyValueError('the storage of plugins is not available');
    try {
      return await connection.runScript(script, `${prefix}kv:${owner}`, args);
    } catch {
      // The circuit breaker has reported the cause.
      throw new KeyValueError('the storage of plugins is not available');
    }
  }

  const ensureWritten = (reply: unknown) => {
    if (reply === isFull) throw new KeyValueError('the storage of plugins is full');
    return reply;
  };

  return {
    async get(owner, key) {
      const [value] = await run(readEntryScript, owner, [key]);
      return value as string | undefined;
    },
    async set(owner, key, value, { ttlSeconds, isNewOnly }) {
      const args = [key, ...bounds, value, String(ttlSeconds * 1000), isNewOnly ? '1' : '0'];
      const [reply] = await run(writeEntryScript, owner, args);
      return ensureWritten(reply) === 1;
    },
    remove: async (owner, key) => (await run(removeEntryScript, owner, [key]))[0] === 1,
    async readTtl(owner, key) {
      const [ttlMs] = (await run(readEntryTtlScript, owner, [key])) as [number];
      return ttlMs < 0 ? ttlMs : Math.ceil(ttlMs / 1000);
    },
    async increment(owner, key) {
      const [value] = await run(incrementEntryScript, owner, [key, ...bounds]);
      if (value === undefined) throw new KeyValueError('the value is not an integer, or too large');
      return String(ensureWritten(value));
    },
    close: connection.close,
  };
}
