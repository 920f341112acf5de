import type { Clock } from '#base/clock.ts';
import { entryBytes, type KeyValueLimits, ownerLimits } from './key-value-limits.ts';
import { KeyValueError, type KeyValues } from './key-values.ts';

const defaultLimits: KeyValueLimits = { ...ownerLimits, maxBytes: 268_435_456 };
/** Pause between two searches of all owners for expired entries. */
const sweepIntervalMs = 1000;
const maxInteger = 2n ** 63n - 1n;
const integerPattern = /^-?(0|[1-9]\d{0,18})$/;

interface Entry {
  readonly value: string;
  /** Infinity without expiry. */
  readonly expiresAtMs: number;
  readonly bytes: number;
}

interface OwnedEntries {
  readonly entries: Map<string, Entry>;
  bytes: number;
}

function fits(limits: KeyValueLimits, owned: OwnedEntries, totalBytes: number, key: string, bytes: number): boolean {
  const before = owned.entries.get(key);
  const added = bytes - (before?.bytes ?? 0);
  return (
    owned.entries.size + (before ? 0 : 1) <= limits.maxKeysPerOwner &&
    owned.bytes + added <= limits.maxBytesPerOwner &&
    totalBytes + added <= limits.maxBytes
  );
}

/** Entries by owner. A full store first drops what has expired, then refuses. */
function createEntries(clock: Clock, limits: KeyValueLimits) {
  const owners = new Map<string, OwnedEntries>();
  let totalBytes = 0;
  let lastSweepMs = Number.NEGATIVE_INFINITY;

  function drop(owner: string, owned: OwnedEntries, key: string, { bytes }: Entry): void {
    owned.entries.delete(key);
    owned.bytes -= bytes;
    totalBytes -= bytes;
    if (owned.entries.size === 0) owners.delete(owner);
  }

  function find(owner: string, key: string): Entry | undefined {
    const owned = owners.get(owner);
    const entry = owned?.entries.get(key);
    if (!owned || !entry || entry.expiresAtMs > clock.now()) return entry;
    drop(owner, owned, key, entry);
    return undefined;
  }

  function dropExpired(owner: string, owned: OwnedEntries): void {
    const nowMs = clock.now();
    for (const [key, entry] of owned.entries) if (entry.expiresAtMs <= nowMs) drop(owner, owned, key, entry);
  }

  /** Drops expired entries of this owner, and now and then those of all where the store as a whole is full. */
  function makeRoom(owner: string, owned: OwnedEntries, added: number): void {
    dropExpired(owner, owned);
    if (totalBytes + added <= limits.maxBytes || clock.now() - lastSweepMs < sweepIntervalMs) return;
    lastSweepMs = clock.now();
    for (const [name, each] of [...owners]) dropExpired(name, each);
  }

  function write(owner: string, key: string, value: string, expiresAtMs: number): void {
    const owned = owners.get(owner) ?? { entries: new Map<string, Entry>(), bytes: 0 };
    const bytes = entryBytes + 2 * (key.length + value.length);
    if (!fits(limits, owned, totalBytes, key, bytes)) makeRoom(owner, owned, bytes);
    if (!fits(limits, owned, totalBytes, key, bytes)) throw new KeyValueError('the storage of plugins is full');
    const before = owned.entries.get(key);
    if (before) drop(owner, owned, key, before);
    owned.entries.set(key, { value, expiresAtMs, bytes });
    owned.bytes += bytes;
    totalBytes += bytes;
    owners.set(owner, owned);
  }

  return {
    find,
    write,
    remove: (owner: string, key: string, entry: Entry) => drop(owner, owners.get(owner)!, key, entry),
    clear: () => owners.clear(),
  };
}

/** Store in the memory of this process. */
export function createLocalKeyValues(clock: Clock, limits: KeyValueLimits = defaultLimits): KeyValues {
  const { find, write, remove, clear } = createEntries(clock, limits);
  return {
    get: async (owner, key) => find(owner, key)?.value,
    async set(owner, key, value, { ttlSeconds, isNewOnly }) {
      if (find(owner, key) && isNewOnly) return false;
      write(owner, key, value, ttlSeconds === 0 ? Number.POSITIVE_INFINITY : clock.now() + ttlSeconds * 1000);
      return true;
    },
    async remove(owner, key) {
      const entry = find(owner, key);
      if (entry) remove(owner, key, entry);
      return entry !== undefined;
    },
    async readTtl(owner, key) {
      const entry = find(owner, key);
      if (!entry) return -2;
      return Number.isFinite(entry.expiresAtMs) ? Math.ceil((entry.expiresAtMs - clock.now()) / 1000) : -1;
    },
    async increment(owner, key) {
      const entry = find(owner, key);
      const value = nextInteger(entry?.value ?? '0');
      write(owner, key, value, entry?.expiresAtMs ?? Number.POSITIVE_INFINITY);
      return value;
    },
    close: clear,
  };
}

function nextInteger(text: string): string {
  const value = integerPattern.test(text) ? BigInt(text) : maxInteger;
  if (value >= maxInteger) throw new KeyValueError('the value is not an integer, or too large');
  return String(value + 1n);
}
