import type { Clock } from '#base/clock.ts';
import { type RepeatedWork, repeat } from '#base/repeat.ts';
import type { Records } from './records.ts';
import type { CounterEntry, ThreadsShared } from './shared/threads.ts';

/**
 * Persists quotas and other long-lived counters periodically, and restores them at the next start. Each process has its
 * own rows, by node: without Redis each counts separately.
 */
export interface CounterPersistence {
  /** Restores the persisted counters and starts the periodic writes. */
  start(): Promise<void>;
  /** Writes at once if one of these names has a row. */
  reset(names: readonly string[]): Promise<void>;
  /** Writes a last time and stops. */
  close(): Promise<void>;
}

export interface CounterPersistenceOptions {
  readonly records: Records;
  readonly threads: Pick<ThreadsShared, 'entries' | 'load'>;
  readonly node: string;
  readonly clock: Clock;
  /** Called when a write fails; the next write includes the failed rows. */
  readonly onError: (error: Error) => void;
  readonly intervalMs?: number;
}

/** From the start of one write to the start of the next: a crash loses about a second of counts. */
const defaultIntervalMs = 900;
/** Minimum pause between writes, so that slow ones do not monopolise the database. */
const minPauseMs = 50;
/** Bounds one transaction, so that other writers get the lock in between. */
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
  /** Rows as they are in the table. */
  const written = new Map<string, Row>();
  let startedAtMs = performance.now();
  let writes: RepeatedWork | undefined;

  function write(): Promise<void> {
    startedAtMs = performance.now();
    const rows = threads.entries(clock.now()).map(entry => toRow(node, entry));
    return writeChanges(table, rows, written);
  }

  const pauseMs = () => Math.max(minPauseMs, intervalMs - (performance.now() - startedAtMs));

  return {
    async start() {
      const rows = await table.restore(clock.now());
      for (const row of rows) written.set(row.name, row);
      threads.load(rows.map(toEntry), clock.now());
      startedAtMs = performance.now();
      // Without overlap, so that an older count never overwrites a newer one.
      writes = repeat(pauseMs, write, { onError, unref: true });
    },
    async reset(names) {
      // A failure goes to `onError`; the next write retries it.
      if (names.some(name => written.has(name))) await writes?.wake();
    },
    async close() {
      if (writes === undefined) return;
      await writes.close();
      await write().catch(onError);
    },
  };
}

/** Deletes the rows of counters that ended and upserts the changed ones. */
async function writeChanges(table: CountersTable, rows: readonly Row[], written: Map<string, Row>): Promise<void> {
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

type CountersTable = ReturnType<typeof createCountersTable>;

function createCountersTable(records: Records, node: string) {
  return {
    /**
     * Open counters of this node. Expired rows of every node are deleted: the node that wrote them may never return.
     */
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
