import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type LogConfig,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { Lru } from '#base/lru.ts';
import { restrictSqliteFiles } from './private-files.ts';

/** Bounds the statement cache. Queries have few shapes, so this is rarely reached. */
const maxCachedStatements = 500;

/** Wait for another process that locks the file: a migration or a backup. */
const busyTimeoutMs = 5000;

const inMemory = ':memory:';

/**
 * Opens a database in WAL mode with synchronous=full: an acknowledged write survives a crash of process and machine.
 */
export function openSqlite(path: string): DatabaseSync {
  if (path !== inMemory) restrictSqliteFiles(path);
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on');
    // As in PostgreSQL, so that a search returns the same on both engines.
    database.exec('pragma case_sensitive_like = on');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Kysely dialect on node:sqlite: one connection, used by one query or one transaction at a time. */
function createSqliteDialect(database: DatabaseSync): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => createSqliteDriver(database),
    createIntrospector: db => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

function createSqliteDriver(database: DatabaseSync): Driver {
  const connection = createSqliteConnection(database);
  const mutex = createMutex();
  const run = (sql: string) => connection.executeQuery(CompiledQuery.raw(sql)).then(() => undefined);
  return {
    init: async () => {},
    acquireConnection: async () => {
      await mutex.acquire();
      return connection;
    },
    // BEGIN IMMEDIATE takes the write lock first: two transactions that read before they write cannot deadlock.
    beginTransaction: () => run('begin immediate'),
    commitTransaction: () => run('commit'),
    // Some errors, such as a full disk, roll back by themselves.
    rollbackTransaction: async () => {
      if (database.isTransaction) await run('rollback');
    },
    releaseConnection: async () => mutex.release(),
    destroy: async () => database.close(),
  };
}

/** Mutex over the one connection; waiters are served in order. */
function createMutex() {
  const waiting: (() => void)[] = [];
  let isLocked = false;
  return {
    acquire(): Promise<void> | void {
      if (isLocked) return new Promise(resolve => waiting.push(resolve));
      isLocked = true;
    },
    release() {
      const next = waiting.shift();
      if (next) next();
      else isLocked = false;
    },
  };
}

function createSqliteConnection(database: DatabaseSync): DatabaseConnection {
  const statements = new Lru<string, StatementSync>(maxCachedStatements);
  const prepare = (sql: string) => {
    const cached = statements.get(sql);
    if (cached) return cached;
    const statement = database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const statement = prepare(sql);
      const values = parameters.map(toSqliteValue);
      if (statement.columns().length > 0) return { rows: statement.all(...values) as R[] };
      const { changes, lastInsertRowid } = statement.run(...values);
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
    },
    async *streamQuery<R>({ sql, parameters }: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
      for (const row of database.prepare(sql).iterate(...parameters.map(toSqliteValue))) yield { rows: [row as R] };
    },
  };
}

const toSqliteValue = (value: unknown): SQLInputValue =>
  typeof value === 'boolean' ? Number(value) : ((value ?? null) as SQLInputValue);

export const createSqliteKysely = <T>(database: DatabaseSync, log?: LogConfig): Kysely<T> =>
  new Kysely<T>({ dialect: createSqliteDialect(database), ...(log ? { log } : {}) });

/** VACUUM rewrites the file from live rows; the checkpoint then truncates the WAL, which has older pages. */
export async function purgeSqliteFile<T>(db: Kysely<T>): Promise<void> {
  await sql`vacuum`.execute(db);
  const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(db);
  if (rows[0]?.busy) throw new Error('another connection reads the database file');
}
