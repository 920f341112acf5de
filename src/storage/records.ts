import { AsyncLocalStorage } from 'node:async_hooks';
import { type CompiledQuery, type Kysely, type LogEvent, sql, type Transaction } from 'kysely';
import { toDatabaseProblem } from './database-errors.ts';
import { type Engine, migrate, type SchemaVersions } from './migrate.ts';
import { migrations } from './migrations/list.ts';
import { notifyChannel } from './notify-channel.ts';
import { createSqliteKysely, openSqlite, purgeSqliteFile } from './sqlite.ts';
import type { Tables } from './tables.ts';

/** Topics of configuration that every gateway reloads on change. */
export type Topic = 'apis' | 'policies' | 'certificates' | 'keys' | 'oauth' | 'organisations';

export type ChangeListener = (topics: ReadonlySet<Topic>) => void;

/** Durable storage. `db` is the current transaction inside `write` and whatever it calls, the pool outside. */
export interface Records {
  readonly engine: Engine;
  readonly db: Kysely<Tables>;
  /**
   * Runs `work` in a transaction. A nested `write` joins the outer one and fails it when it fails, even if the error is
   * caught.
   */
  write<T>(work: () => Promise<T>): Promise<T>;
  /** Dry run: runs `work` as `write` does, with all of its checks, and undoes its changes. */
  dryRun<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Records a change of an object, or of a whole topic: the revision and the change log are written in the same
   * transaction; listeners of this process are notified after the commit.
   */
  markChanged(topic: Topic, id?: string): void;
  onChange(listener: ChangeListener): () => void;
  revision(): Promise<number>;
  /** Clock of the database in milliseconds since the epoch; with SQLite that of this machine. */
  readDatabaseTimeMs(): Promise<number>;
  /**
   * Erases old row contents from the SQLite file (VACUUM); outside of a write. PostgreSQL keeps dead row versions until
   * its own vacuum and reuse of their space.
   */
  purgeFreedPages(): Promise<void>;
  /** Query plan, for tests that guarantee an index. */
  explain(query: CompiledQuery): Promise<string>;
  close(): Promise<void>;
}

export interface RecordsOptions {
  /** A PostgreSQL URL; `file` is the path of an SQLite database. */
  url?: string;
  file?: string;
  connections?: number;
  /** Called for errors outside of any call: a lost idle connection, a listener that throws. */
  onError?: (error: Error) => void;
  /** Called after the schema was checked, with its versions before and after; 0 is an empty database. */
  onMigrated?: ((versions: SchemaVersions) => void) | undefined;
}

/** Transaction in progress. */
interface TransactionState {
  readonly topics: Map<Topic, Set<string>>;
  tx?: Transaction<Tables>;
  /** First error: from here on the transaction can only be rolled back. */
  error?: unknown;
}

export async function openRecords(options: RecordsOptions): Promise<Records> {
  const { current, recordError } = createTransactionContext();
  const base = await openKysely(options, recordError);
  const engine: Engine = options.url ? 'postgres' : 'sqlite';
  try {
    const ran = await migrate(base, engine);
    options.onMigrated?.({ from: migrations.length - ran, to: migrations.length });
  } catch (error) {
    await base.destroy();
    throw toDatabaseProblem(error) ?? error;
  }
  return createRecords(base, engine, current, options.onError ?? ignore);
}

/** Records on a PostgreSQL that is not available yet: every query fails until `release`. */
export async function openDeferredRecords(options: RecordsOptions & { url: string }) {
  let isDeferred = true;
  const { current, recordError } = createTransactionContext();
  const base = await openKysely(options, recordError, () => isDeferred);
  return {
    records: createRecords(base, 'postgres', current, options.onError ?? ignore),
    /** Called once the database is available and migrated. */
    release(): void {
      isDeferred = false;
    },
  };
}

/** Current transaction by async context, and the first error in it. */
function createTransactionContext() {
  const current = new AsyncLocalStorage<TransactionState>();
  const recordError = (event: LogEvent) => {
    const unit = current.getStore();
    if (unit && event.level === 'error') unit.error ??= event.error;
  };
  return { current, recordError };
}

/** Bounds one INSERT: engines limit the number of bound values. */
const maxRowsPerInsert = 1000;

const ignore = () => undefined;

const databaseTime = {
  sqlite: sql<{ ms: number }>`select unixepoch('subsec') * 1000 as ms`,
  postgres: sql<{ ms: number }>`select extract(epoch from clock_timestamp()) * 1000 as ms`,
} as const satisfies Record<Engine, unknown>;

/** Loads the driver of the engine on first use. */
async function openKysely(
  { url, file, connections = 10, onError = ignore }: RecordsOptions,
  log: (event: LogEvent) => void,
  isDeferred?: () => boolean,
): Promise<Kysely<Tables>> {
  if (url) {
    const { createPostgresKysely } = await import('./postgres.ts');
    return createPostgresKysely<Tables>({ url, connections, onLost: onError, log, isDeferred });
  }
  try {
    return createSqliteKysely<Tables>(openSqlite(file ?? ':memory:'), log);
  } catch (error) {
    throw toDatabaseProblem(error) ?? error;
  }
}

function createRecords(
  base: Kysely<Tables>,
  engine: Engine,
  current: AsyncLocalStorage<TransactionState>,
  onError: (error: Error) => void,
): Records {
  const listeners = new Set<ChangeListener>();
  /** A finished transaction is no longer current, also for async work it left behind. */
  const currentTransaction = () => {
    const store = current.getStore();
    return store?.tx && store;
  };
  const db = () => currentTransaction()?.tx ?? base;

  async function write<T>(work: () => Promise<T>): Promise<T> {
    const outer = currentTransaction();
    if (outer) return runInOpenTransaction(outer, work);
    const own: TransactionState = { topics: new Map() };
    try {
      const result = await current.run(own, () =>
        base.transaction().execute(tx => runTransaction(own, tx, engine, work)),
      );
      notify(listeners, new Set(own.topics.keys()), onError);
      return result;
    } catch (error) {
      const cause = own.error ?? error;
      throw toDatabaseProblem(cause) ?? cause;
    }
  }

  return {
    engine,
    get db() {
      return db();
    },
    write,
    dryRun: work => write(() => runAndUndo(currentTransaction()!, work)),
    markChanged(topic, id = '') {
      const own = currentTransaction();
      if (!own) throw new Error(`markChanged(${topic}) outside of a write`);
      own.topics.set(topic, (own.topics.get(topic) ?? new Set()).add(id));
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async revision() {
      const row = await db().selectFrom('meta').select('value').where('name', '=', 'revision').executeTakeFirst();
      return Number(row?.value ?? 0);
    },
    async readDatabaseTimeMs() {
      const { rows } = await databaseTime[engine].execute(db());
      return Number(rows[0]!.ms);
    },
    purgeFreedPages: async () => (engine === 'sqlite' ? purgeSqliteFile(base) : undefined),
    explain: query => explainQuery(db(), engine, query),
    close: () => base.destroy(),
  };
}

function notify(
  listeners: Iterable<ChangeListener>,
  topics: ReadonlySet<Topic>,
  onError: (error: Error) => void,
): void {
  if (topics.size === 0) return;
  for (const listener of listeners) {
    try {
      listener(topics);
    } catch (error) {
      // The transaction is committed: a throwing listener cannot undo it.
      onError(error as Error);
    }
  }
}

/** Runs a nested `write`: its failure fails the outer transaction, so that no half of it is committed. */
async function runInOpenTransaction<T>(transaction: TransactionState, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // Later errors replace earlier ones: on the way out a store translates a driver error.
    transaction.error = error;
    throw error;
  }
}

/** Undoes the work by a savepoint: a transaction around it goes on. */
async function runAndUndo<T>(transaction: TransactionState, work: () => Promise<T>): Promise<T> {
  const { topics, tx } = transaction;
  const before = new Map([...topics].map(([topic, ids]) => [topic, new Set(ids)]));
  await sql`savepoint rehearsal`.execute(tx!);
  const value = await work();
  if (transaction.error !== undefined) throw transaction.error;
  await sql`rollback to savepoint rehearsal`.execute(tx!);
  topics.clear();
  for (const [topic, ids] of before) topics.set(topic, ids);
  return value;
}

/**
 * Runs `work` and writes the change log. A failed statement fails the transaction even if its error was caught:
 * PostgreSQL would answer the COMMIT with a silent rollback.
 */
async function runTransaction<T>(
  transaction: TransactionState,
  tx: Transaction<Tables>,
  engine: Engine,
  work: () => Promise<T>,
): Promise<T> {
  transaction.tx = tx;
  try {
    return await runInOpenTransaction(transaction, async () => {
      const value = await work();
      if (transaction.error !== undefined) throw transaction.error;
      if (transaction.topics.size > 0) {
        await writeChanges(tx, transaction.topics);
        // Delivered to other processes on commit only.
        if (engine === 'postgres') await sql`select pg_notify(${notifyChannel}, '')`.execute(tx);
      }
      return value;
    });
  } finally {
    delete transaction.tx;
  }
}

/** The revision row stays locked until the commit, so revisions become visible in order. */
async function writeChanges(tx: Transaction<Tables>, topics: ReadonlyMap<Topic, ReadonlySet<string>>): Promise<void> {
  const revisionRow = await tx
    .insertInto('meta')
    .values({ name: 'revision', value: '1' })
    .onConflict(conflict =>
      conflict.column('name').doUpdateSet({ value: sql`cast(cast(meta.value as bigint) + 1 as text)` }),
    )
    .returning('value')
    .executeTakeFirstOrThrow();
  const revision = Number(revisionRow.value);
  const rows = [...topics].flatMap(([topic, ids]) =>
    (ids.has('') ? [''] : [...ids]).map(id => ({ revision, topic, id })),
  );
  for (let start = 0; start < rows.length; start += maxRowsPerInsert) {
    await tx
      .insertInto('changes')
      .values(rows.slice(start, start + maxRowsPerInsert))
      .execute();
  }
}

async function explainQuery(db: Kysely<Tables>, engine: Engine, query: CompiledQuery): Promise<string> {
  const prefix = engine === 'postgres' ? 'explain' : 'explain query plan';
  const { rows } = await db.executeQuery<Record<string, unknown>>({ ...query, sql: `${prefix} ${query.sql}` });
  return rows.map(row => String(row['QUERY PLAN'] ?? row.detail)).join('\n');
}
