import type { Clock } from '#base/clock.ts';
import type { Records } from './records.ts';
import type { CounterEntry, ThreadsShared } from './shared/threads.ts';

/**
 * Writes the quotas and other long counters of this process down now and then, and brings them back at its next start.
 * Every process keeps its own, under its node: without Redis each counts for itself.
 */
export interface CounterPersistence {
  /** Brings back what was written down, and writes from now on. */
  start(): Promise<void>;
  /** Writes now what of these was written before. */
  reset(names: readonly string[]): Promise<void>;
  /** Writes for the last time. */
  close(): Promise<void>;
}

export interface CounterPersistenceOptions {
  readonly records: Records;
  readonly threads: Pick<ThreadsShared, 'entries' | 'load'>;
  readonly node: string;
  readonly clock: Clock;
  /** Told when writing fails; the next time everything is tried again. */
  readonly onError: (error: Error) => void;
  readonly intervalMs?: number;
}

/** From the beginning of one writing to that of the next: with the writing itself a crash costs about a second. */
const defaultIntervalMs = 900;
/** However long writing takes, others get their turn in between. */
const minPauseMs = 50;
/** Rows of one transaction: others want to write too. */
const maxRowsPerTransaction = 500;

type Row = ReturnType<typeof toRow>;

const toRow = (node: string, { name, startedAtMs, endsAtMs, used }: CounterEntry) => ({
  node,
  name,
  started_at: Math.round(startedAtMs),
  ends_at: endsAtMs === undefined ? null : Math.round(endsAtMs),
  used,
});

const hasSameValues = (one: Row | undefined, other: Row) =>
  one?.used === other.used && one.started_at === other.started_at && one.ends_at === other.ends_at;

export function createCounterPersistence(options: CounterPersistenceOptions): CounterPersistence {
  const { records, threads, node, clock, onError, intervalMs = defaultIntervalMs } = options;
  const table = createCountersTable(records, node);
  /** As they stand in the table. */
  const written = new Map<string, Row>();
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();

  async function write(): Promise<void> {
    const rows = threads.entries(clock.now()).map(entry => toRow(node, entry));
    const openNames = new Set(rows.map(row => row.name));
    await forEachBatch(
      [...written.keys()].filter(name => !openNames.has(name)),
      async names => {
        await table.remove(names);
        for (const name of names) written.delete(name);
      },
    );
    await forEachBatch(
      rows.filter(row => !hasSameValues(written.get(row.name), row)),
      async changed => {
        await table.put(changed);
        for (const row of changed) written.set(row.name, row);
      },
    );
  }

  /** One after the other, so that an older count never overwrites a newer one. */
  function flush(): Promise<void> {
    const next = writing.then(write);
    writing = next.catch(onError);
    return next;
  }

  function schedule(delayMs: number): void {
    timer = setTimeout(() => {
      const startedAtMs = performance.now();
      const scheduleNext = () => schedule(Math.max(minPauseMs, intervalMs - (performance.now() - startedAtMs)));
      void flush().then(scheduleNext, scheduleNext);
    }, delayMs);
    timer.unref();
  }

  return {
    async start() {
      const rows = await table.restore(clock.now());
      for (const row of rows) written.set(row.name, row);
      threads.load(rows.map(toEntry), clock.now());
      schedule(intervalMs);
    },
    async reset(names) {
      // What fails is told to `onFault` and tried again with the next writing.
      if (names.some(name => written.has(name))) await flush().catch(() => undefined);
    },
    async close() {
      if (timer === undefined) return;
      clearTimeout(timer);
      await flush().catch(() => undefined);
      clearTimeout(timer);
    },
  };
}

const toEntry = ({ name, started_at, ends_at, used }: Row): CounterEntry => ({
  name,
  startedAtMs: started_at,
  used,
  ...(ends_at !== null && { endsAtMs: ends_at }),
});

async function forEachBatch<T>(all: readonly T[], run: (part: readonly T[]) => Promise<void>): Promise<void> {
  for (let start = 0; start < all.length; start += maxRowsPerTransaction)
    await run(all.slice(start, start + maxRowsPerTransaction));
}

function createCountersTable(records: Records, node: string) {
  return {
    /** The open counters of this node. Those that ended are removed, whoever wrote them: their node may never return. */
    async restore(nowMs: number): Promise<Row[]> {
      await records.write(() => records.db.deleteFrom('counters').where('ends_at', '<=', nowMs).execute());
      const rows = await records.db.selectFrom('counters').selectAll().where('node', '=', node).execute();
      return rows.map(row => ({
        ...row,
        started_at: Number(row.started_at),
        ends_at: row.ends_at === null ? null : Number(row.ends_at),
        used: Number(row.used),
      }));
    },
    async put(rows: readonly Row[]): Promise<void> {
      await records.write(() =>
        records.db
          .insertInto('counters')
          .values(rows)
          .onConflict(conflict =>
            conflict.columns(['node', 'name']).doUpdateSet(it => ({
              started_at: it.ref('excluded.started_at'),
              ends_at: it.ref('excluded.ends_at'),
              used: it.ref('excluded.used'),
            })),
          )
          .execute(),
      );
    },
    async remove(names: readonly string[]): Promise<void> {
      await records.write(() =>
        records.db.deleteFrom('counters').where('node', '=', node).where('name', 'in', names).execute(),
      );
    },
  };
}
