import type { KeyValues } from '#storage/shared/key-values.ts';
import { PluginFault } from './plugin-rpc.ts';

const maxKeyBytes = 256;
const maxValueBytes = 65_536;
/** Ten years. */
const maxTtlSeconds = 315_360_000;

type StorageFunction = (store: KeyValues, orgId: string, args: readonly unknown[]) => Promise<unknown>;

/** `GwStorage…` of scripts, by their names. The store has a part for each organisation. */
export const storageFunctions: Readonly<Record<string, StorageFunction>> = {
  // Null, not undefined, which JSON has not.
  GwStorageGet: async (store, orgId, [key]) => (await store.get(orgId, readKey(key))) ?? null,
  async GwStorageSet(store, orgId, [key, value, ttl]) {
    await store.set(orgId, readKey(key), readValue(value), { ttlSeconds: readTtl(ttl), isNewOnly: false });
  },
  GwStorageSetNX: (store, orgId, [key, value, ttl]) =>
    store.set(orgId, readKey(key), readValue(value), { ttlSeconds: readTtl(ttl), isNewOnly: true }),
  GwStorageDel: (store, orgId, [key]) => store.remove(orgId, readKey(key)),
  GwStorageTTL: (store, orgId, [key]) => store.readTtl(orgId, readKey(key)),
  GwStorageIncr: (store, orgId, [key]) => store.increment(orgId, readKey(key)),
};

function readKey(value: unknown): string {
  const bytes = typeof value === 'string' ? Buffer.byteLength(value) : 0;
  if (bytes === 0 || bytes > maxKeyBytes) throw new PluginFault(`a key is a string of 1 to ${maxKeyBytes} bytes`);
  return value as string;
}

function readValue(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    throw new PluginFault('a value is a string');
  const text = String(value);
  if (Buffer.byteLength(text) > maxValueBytes) throw new PluginFault(`a value has at most ${maxValueBytes} bytes`);
  return text;
}

function readTtl(value: unknown): number {
  const seconds = value === undefined || value === null ? 0 : Number(value);
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > maxTtlSeconds)
    throw new PluginFault(`the expiry is a number of seconds from 0 to ${maxTtlSeconds}`);
  return seconds;
}
