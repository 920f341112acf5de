import { AsyncLocalStorage } from 'node:async_hooks';
import { type CompiledQuery, type Kysely, type LogEvent, sql, type Transaction } from 'kysely';
import { databaseProblem } from './database-errors.ts';
import { type Engine, migrate } from './migrate.ts';
import { noticeChannel } from './notify-channel.ts';
import { openSqlite, purgeSqliteFile, sqliteKysely } from './sqlite.ts';
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
  touch(topic: Topic, id?: string): void;
  onTouched(listener: (topics: ReadonlySet<Topic>) => void): () => void;
  revision(): Promise<number>;
  /**
   * Removes from the database file what rows held before they were changed or deleted; outside of a write. PostgreSQL keeps
   * old row versions until its own vacuum and reuse of their space.
   */
  purgeFreedPages(): Promise<void>;
  /** How the engine would answer a query, for tests that promise an index. */
  plan(query: CompiledQuery): Promise<string>;
  close(): Promise<void>;
}

export interface RecordsOptions {
  /** A PostgreSQL address, or the path of an SQLite file. */
  url?: string;
  file?: string;
  connections?: number;
  /** Told what goes wrong while nobody waits for an answer: a lost idle connection, a listener that fails. */
  onFault?: (error: Error) => void;
}

/** One transaction under way. */
interface Unit {
  readonly topics: Map<Topic, Set<string>>;
  tx?: Transaction<Tables>;
  /** What failed. Whoever caught it since: the transaction is lost. */
  fault?: unknown;
}

export async function openRecords(options: RecordsOptions): Promise<Records> {
  const { current, note } = units();
  const base = await opened(options, note);
  const engine: Engine = options.url ? 'postgres' : 'sqlite';
  try {
    await migrate(base, engine);
  } catch (error) {
    await base.destroy();
    throw databaseProblem(error) ?? error;
  }
  return recordsOn(base, engine, current, options.onFault ?? ignore);
}

/** Records of a PostgreSQL that does not answer yet: whatever is asked of them fails with that, until they are released. */
export async function heldRecords(options: RecordsOptions & { url: string }) {
  let isHeld = true;
  const { current, note } = units();
  const base = await opened(options, note, () => isHeld);
  return {
    records: recordsOn(base, 'postgres', current, options.onFault ?? ignore),
    /** For whoever has seen that it answers and is up to date. */
    release(): void {
      isHeld = false;
    },
  };
}

/** The transaction under way wherever somebody asks, and what failed in it. */
function units() {
  const current = new AsyncLocalStorage<Unit>();
  const note = (event: LogEvent) => {
    const unit = current.getStore();
    if (unit && event.level === 'error') unit.fault ??= event.error;
  };
  return { current, note };
}

/** Engines bound how many values one statement may carry. */
const rowsAtOnce = 1000;

const ignore = () => undefined;

/** Drivers are loaded by those who use them. */
async function opened(
  { url, file, connections = 10, onFault = ignore }: RecordsOptions,
  log: (event: LogEvent) => void,
  isHeld?: () => boolean,
): Promise<Kysely<Tables>> {
  if (url) {
    const { postgresKysely } = await import('./postgres.ts');
    return postgresKysely<Tables>({ url, connections, onLost: onFault, log, isHeld });
  }
  try {
    return sqliteKysely<Tables>(openSqlite(file ?? ':memory:'), log);
  } catch (error) {
    throw databaseProblem(error) ?? error;
  }
}

function recordsOn(
  base: Kysely<Tables>,
  engine: Engine,
  current: AsyncLocalStorage<Unit>,
  onFault: (error: Error) => void,
): Records {
  const listeners = new Set<(topics: ReadonlySet<Topic>) => void>();
  /** A transaction that has ended is nobody's any more, also for work it left behind. */
  const unit = () => {
    const store = current.getStore();
    return store?.tx && store;
  };
  const db = () => unit()?.tx ?? base;

  function tell(topics: ReadonlySet<Topic>): void {
    if (topics.size === 0) return;
    for (const listener of listeners) {
      try {
        listener(topics);
      } catch (error) {
        // What was written stays written: a listener cannot make it a failure.
        onFault(error as Error);
      }
    }
  }

  async function write<T>(work: () => Promise<T>): Promise<T> {
    const outer = unit();
    if (outer) return joined(outer, work);
    const own: Unit = { topics: new Map() };
    try {
      const result = await current.run(own, () => base.transaction().execute(tx => within(own, tx, engine, work)));
      tell(new Set(own.topics.keys()));
      return result;
    } catch (error) {
      const fault = own.fault ?? error;
      throw databaseProblem(fault) ?? fault;
    }
  }

  return {
    engine,
    get db() {
      return db();
    },
    write,
    touch(topic, id = '') {
      const own = unit();
      if (!own) throw new Error(`touch(${topic}) outside of a write`);
      own.topics.set(topic, (own.topics.get(topic) ?? new Set()).add(id));
    },
    onTouched(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async revision() {
      const row = await db().selectFrom('meta').select('value').where('name', '=', 'revision').executeTakeFirst();
      return Number(row?.value ?? 0);
    },
    purgeFreedPages: async () => (engine === 'sqlite' ? purgeSqliteFile(base) : undefined),
    plan: query => planOf(db(), engine, query),
    close: () => base.destroy(),
  };
}

/** Whatever part of a transaction fails, all of it does: nobody may keep half of what an inner `write` did. */
async function joined<T>(unit: Unit, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // On its way out an error is told ever better: a store knows what a conflict means.
    unit.fault = error;
    throw error;
  }
}

/**
 * Does the work of a transaction. A statement that failed fails the whole, even if the work went on: PostgreSQL would
 * else answer the commit with a silent rollback.
 */
async function within<T>(unit: Unit, tx: Transaction<Tables>, engine: Engine, work: () => Promise<T>): Promise<T> {
  unit.tx = tx;
  try {
    return await joined(unit, async () => {
      const value = await work();
      if (unit.fault !== undefined) throw unit.fault;
      if (unit.topics.size > 0) {
        await keepChanges(tx, unit.topics);
        // Heard by other processes when, and only when, this is committed.
        if (engine === 'postgres') await sql`select pg_notify(${noticeChannel}, '')`.execute(tx);
      }
      return value;
    });
  } finally {
    delete unit.tx;
  }
}

/** The row of the revision is locked until the end, so revisions appear to readers in their order. */
async function keepChanges(tx: Transaction<Tables>, topics: ReadonlyMap<Topic, ReadonlySet<string>>): Promise<void> {
  const raised = await tx
    .insertInto('meta')
    .values({ name: 'revision', value: '1' })
    .onConflict(conflict =>
      conflict.column('name').doUpdateSet({ value: sql`cast(cast(meta.value as bigint) + 1 as text)` }),
    )
    .returning('value')
    .executeTakeFirstOrThrow();
  const revision = Number(raised.value);
  const rows = [...topics].flatMap(([topic, ids]) =>
    (ids.has('') ? [''] : [...ids]).map(id => ({ revision, topic, id })),
  );
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    await tx
      .insertInto('changes')
      .values(rows.slice(at, at + rowsAtOnce))
      .execute();
  }
}

async function planOf(db: Kysely<Tables>, engine: Engine, query: CompiledQuery): Promise<string> {
  const prefix = engine === 'postgres' ? 'explain' : 'explain query plan';
  const { rows } = await db.executeQuery<Record<string, unknown>>({ ...query, sql: `${prefix} ${query.sql}` });
  return rows.map(row => String(row['QUERY PLAN'] ?? row.detail)).join('\n');
}
