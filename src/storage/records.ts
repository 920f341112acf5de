import { AsyncLocalStorage } from 'node:async_hooks';
import { type CompiledQuery, type Kysely, type LogEvent, sql, type Transaction } from 'kysely';
import { toDatabaseProblem } from './database-errors.ts';
import { type Engine, migrate } from './migrate.ts';
import { notifyChannel } from './notify-channel.ts';
import { createSqliteKysely, openSqlite, purgeSqliteFile } from './sqlite.ts';
import type { Tables } from './tables.ts';

/** What traffic is made of: a change to one of these must reach every gateway. */
export type Topic = 'apis' | 'policies' | 'certificates' | 'keys' | 'oauth' | 'organisations';

/** Durable storage. Stores ask `db`; inside `write` that is the transaction, for everything called from there. */
export interface Records {
  readonly engine: Engine;
  readonly db: Kysely<Tables>;
  /** All or nothing. A `write` inside a `write` joins it, and fails it when it fails, whoever catches that. */
  write<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Marks an object, or everything of a topic, as changed: the revision rises in the same transaction and the change is
   * kept with it for gateways to read; listeners of this process hear after it.
   */
  markChanged(topic: Topic, id?: string): void;
  onChange(listener: (topics: ReadonlySet<Topic>) => void): () => void;
  revision(): Promise<number>;
  /**
   * Removes from the database file what rows held before they were changed or deleted; outside of a write. PostgreSQL keeps
   * old row versions until its own vacuum and reuse of their space.
   */
  purgeFreedPages(): Promise<void>;
  /** How the engine would answer a query, for tests that promise an index. */
  explain(query: CompiledQuery): Promise<string>;
  close(): Promise<void>;
}

export interface RecordsOptions {
  /** A PostgreSQL address, or the path of an SQLite file. */
  url?: string;
  file?: string;
  connections?: number;
  /** Told what goes wrong while nobody waits for an answer: a lost idle connection, a listener that fails. */
  onError?: (error: Error) => void;
}

/** One transaction under way. */
interface TransactionState {
  readonly topics: Map<Topic, Set<string>>;
  tx?: Transaction<Tables>;
  /** What failed. Whoever caught it since: the transaction is lost. */
  error?: unknown;
}

export async function openRecords(options: RecordsOptions): Promise<Records> {
  const { current, note: recordError } = createTransactionContext();
  const base = await openKysely(options, recordError);
  const engine: Engine = options.url ? 'postgres' : 'sqlite';
  try {
    await migrate(base, engine);
  } catch (error) {
    await base.destroy();
    throw toDatabaseProblem(error) ?? error;
  }
  return createRecords(base, engine, current, options.onError ?? ignore);
}

/** Records of a PostgreSQL that does not answer yet: whatever is asked of them fails with that, until they are released. */
export async function openDeferredRecords(options: RecordsOptions & { url: string }) {
  let isDeferred = true;
  const { current, note: recordError } = createTransactionContext();
  const base = await openKysely(options, recordError, () => isDeferred);
  return {
    records: createRecords(base, 'postgres', current, options.onError ?? ignore),
    /** For whoever has seen that it answers and is up to date. */
    release(): void {
      isDeferred = false;
    },
  };
}

/** The transaction under way wherever somebody asks, and what failed in it. */
function createTransactionContext() {
  const current = new AsyncLocalStorage<TransactionState>();
  const recordError = (event: LogEvent) => {
    const unit = current.getStore();
    if (unit && event.level === 'error') unit.error ??= event.error;
  };
  return { current, note: recordError };
}

/** Engines bound how many values one statement may carry. */
const maxRowsPerInsert = 1000;

const ignore = () => undefined;

/** Drivers are loaded by those who use them. */
async function openKysely(
  { url, file, connections = 10, onError = ignore }: RecordsOptions,
  log: (event: LogEvent) => void,
  isDeferred?: () => boolean,
): Promise<Kysely<Tables>> {
  if (url) {
    const { createPostgresKysely: postgresKysely } = await import('./postgres.ts');
    return postgresKysely<Tables>({ url, connections, onLost: onError, log, isDeferred });
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
  const listeners = new Set<(topics: ReadonlySet<Topic>) => void>();
  /** A transaction that has ended is nobody's any more, also for work it left behind. */
  const currentTransaction = () => {
    const store = current.getStore();
    return store?.tx && store;
  };
  const db = () => currentTransaction()?.tx ?? base;

  function notify(topics: ReadonlySet<Topic>): void {
    if (topics.size === 0) return;
    for (const listener of listeners) {
      try {
        listener(topics);
      } catch (error) {
        // What was written stays written: a listener cannot make it a failure.
        onError(error as Error);
      }
    }
  }

  async function write<T>(work: () => Promise<T>): Promise<T> {
    const outer = currentTransaction();
    if (outer) return runInOpenTransaction(outer, work);
    const own: TransactionState = { topics: new Map() };
    try {
      const result = await current.run(own, () =>
        base.transaction().execute(tx => runTransaction(own, tx, engine, work)),
      );
      notify(new Set(own.topics.keys()));
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
    markChanged(topic, id = '') {
      const own = currentTransaction();
      if (!own) throw new Error(`touch(${topic}) outside of a write`);
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
    purgeFreedPages: async () => (engine === 'sqlite' ? purgeSqliteFile(base) : undefined),
    explain: query => explainQuery(db(), engine, query),
    close: () => base.destroy(),
  };
}

/** Whatever part of a transaction fails, all of it does: nobody may keep half of what an inner `write` did. */
async function runInOpenTransaction<T>(transaction: TransactionState, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // On its way out an error is told ever better: a store knows what a conflict means.
    transaction.error = error;
    throw error;
  }
}

/**
 * Does the work of a transaction. A statement that failed fails the whole, even if the work went on: PostgreSQL would
 * else answer the commit with a silent rollback.
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
        // Heard by other processes when, and only when, this is committed.
        if (engine === 'postgres') await sql`select pg_notify(${notifyChannel}, '')`.execute(tx);
      }
      return value;
    });
  } finally {
    delete transaction.tx;
  }
}

/** The row of the revision is locked until the end, so revisions appear to readers in their order. */
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
