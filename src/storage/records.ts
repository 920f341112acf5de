import { AsyncLocalStorage } from 'node:async_hooks';
import { type CompiledQuery, type Kysely, sql, type Transaction } from 'kysely';
import { databaseProblem } from './faults.ts';
import { type Engine, migrate } from './migrate.ts';
import { openPostgres, postgresKysely } from './postgres.ts';
import { openSqlite, sqliteKysely } from './sqlite.ts';
import type { Tables } from './tables.ts';

/** What traffic is made of: a change to one of these must reach every gateway. */
export type Topic = 'apis' | 'policies' | 'certificates' | 'keys' | 'oauth' | 'organisations';

/** Durable storage. Stores ask `db`; inside `write` that is the transaction, for everything called from there. */
export interface Records {
  readonly engine: Engine;
  readonly db: Kysely<Tables>;
  /** All or nothing. A `write` inside a `write` joins it. */
  write<T>(work: () => Promise<T>): Promise<T>;
  /** Marks a topic as changed: its revision rises in the same transaction, listeners hear after it. */
  touch(topic: Topic): void;
  onTouched(listener: (topics: ReadonlySet<Topic>) => void): () => void;
  revision(): Promise<number>;
  /** How the engine would answer a query, for tests that promise an index. */
  plan(query: CompiledQuery): Promise<string>;
  close(): Promise<void>;
}

export interface RecordsOptions {
  /** A PostgreSQL address, or the path of an SQLite file. */
  url?: string;
  file?: string;
  connections?: number;
  onIdleError?: (error: Error) => void;
}

interface Unit {
  tx: Transaction<Tables>;
  topics: Set<Topic>;
}

export async function openRecords(options: RecordsOptions): Promise<Records> {
  const engine: Engine = options.url ? 'postgres' : 'sqlite';
  const ignore = () => {};
  const base = options.url
    ? postgresKysely<Tables>(openPostgres(options.url, options.connections ?? 10, options.onIdleError ?? ignore))
    : sqliteKysely<Tables>(openSqlite(options.file ?? ':memory:'));
  try {
    await migrate(base, engine);
  } catch (error) {
    await base.destroy();
    throw databaseProblem(error) ?? error;
  }
  return recordsOn(base, engine);
}

function recordsOn(base: Kysely<Tables>, engine: Engine): Records {
  const current = new AsyncLocalStorage<Unit>();
  const listeners = new Set<(topics: ReadonlySet<Topic>) => void>();
  const tell = (topics: ReadonlySet<Topic>) => {
    if (topics.size > 0) for (const listener of listeners) listener(topics);
  };

  async function write<T>(work: () => Promise<T>): Promise<T> {
    if (current.getStore()) return work();
    const topics = new Set<Topic>();
    try {
      const result = await base.transaction().execute(tx =>
        current.run({ tx, topics }, async () => {
          const value = await work();
          if (topics.size > 0) await raiseRevision(tx);
          return value;
        }),
      );
      tell(topics);
      return result;
    } catch (error) {
      throw databaseProblem(error) ?? error;
    }
  }

  return {
    engine,
    get db() {
      return current.getStore()?.tx ?? base;
    },
    write,
    touch(topic) {
      const unit = current.getStore();
      if (!unit) throw new Error(`touch(${topic}) outside of a write`);
      unit.topics.add(topic);
    },
    onTouched(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async revision() {
      const row = await base.selectFrom('meta').select('value').where('name', '=', 'revision').executeTakeFirst();
      return Number(row?.value ?? 0);
    },
    plan: query => planOf(base, engine, query),
    close: () => base.destroy(),
  };
}

async function raiseRevision(tx: Transaction<Tables>): Promise<void> {
  await tx
    .insertInto('meta')
    .values({ name: 'revision', value: '1' })
    .onConflict(conflict =>
      conflict.column('name').doUpdateSet({ value: sql`cast(cast(meta.value as bigint) + 1 as text)` }),
    )
    .execute();
}

async function planOf(db: Kysely<Tables>, engine: Engine, query: CompiledQuery): Promise<string> {
  const prefix = engine === 'postgres' ? 'explain' : 'explain query plan';
  const { rows } = await db.executeQuery<Record<string, unknown>>({ ...query, sql: `${prefix} ${query.sql}` });
  return rows.map(row => String(row['QUERY PLAN'] ?? row.detail)).join('\n');
}
