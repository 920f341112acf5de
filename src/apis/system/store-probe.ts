import type { Clock } from '#base/clock.ts';
import type { Records } from '#storage/records.ts';
import type { Shared } from '#storage/shared/shared.ts';
import type { NodeLoad, StoreState } from './node-store.ts';

export interface StoreProbeOptions {
  readonly records: Pick<Records, 'readDatabaseTimeMs'>;
  readonly shared: Pick<Shared, 'ping' | 'state'>;
  readonly clock: Clock;
  readonly timeoutMs?: number;
}

/** A slower store counts as unavailable. */
const probeTimeoutMs = 2000;

interface RoundTrip<T> {
  readonly value: T;
  readonly latencyMs: number;
}

/** Round trips to the database, with its clock, and to Redis where it is configured. */
export function createStoreProbe({ records, shared, clock, timeoutMs = probeTimeoutMs }: StoreProbeOptions) {
  const readDatabase = createProbe(async () => {
    const sentAt = clock.now();
    const databaseMs = await records.readDatabaseTimeMs();
    // The database read its clock between request and response: the middle is off by half of the latency at most.
    return (sentAt + clock.now()) / 2 - databaseMs;
  }, timeoutMs);
  const { ping } = shared;
  const pingRedis = ping && createProbe(ping, timeoutMs);

  return async (): Promise<Pick<NodeLoad, 'stores' | 'clockSkewMs'>> => {
    const database = await readDatabase();
    const redis = shared.state() === 'ok' ? await pingRedis?.() : undefined;
    const stores: StoreState[] = [{ name: 'database', latencyMs: database?.latencyMs }];
    if (pingRedis) stores.push({ name: 'redis', latencyMs: redis?.latencyMs });
    return { stores, clockSkewMs: database?.value };
  };
}

/** One request at a time: where the last one hangs, the store is unavailable, and no further one is sent. */
function createProbe<T>(send: () => Promise<T>, timeoutMs: number) {
  let isPending = false;

  async function measure(): Promise<RoundTrip<T> | undefined> {
    const startedAt = performance.now();
    try {
      const value = await send();
      return { value, latencyMs: performance.now() - startedAt };
    } catch {
      // Reported as unavailable; the owner of the connection logs the cause.
      return undefined;
    } finally {
      isPending = false;
    }
  }

  return async (): Promise<RoundTrip<T> | undefined> => {
    if (isPending) return undefined;
    isPending = true;
    const timeout = Promise.withResolvers<undefined>();
    const timer = setTimeout(timeout.resolve, timeoutMs, undefined);
    const result = await Promise.race([measure(), timeout.promise]);
    clearTimeout(timer);
    return result;
  };
}
