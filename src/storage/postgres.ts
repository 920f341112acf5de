import { Kysely, type LogConfig, PostgresDialect } from 'kysely';
import pg from 'pg';
import { createNotConnectedProblem, toUnreachableProblem } from './database-errors.ts';

/** Maximum wait for a free connection. */
const connectTimeoutMs = 10_000;

/** pg returns 64-bit integers as text; all of ours fit into a JavaScript number exactly. */
const int8 = 20;
pg.types.setTypeParser(int8, Number);

export interface PostgresOptions {
  readonly url: string;
  readonly connections: number;
  /** Called when an idle connection is lost. */
  onLost(error: Error): void;
  readonly log?: LogConfig;
  /** Queries fail while this returns true: the database has not been migrated yet. */
  readonly isDeferred?: (() => boolean) | undefined;
}

export function createPostgresKysely<T>({ url, connections, onLost, log, isDeferred }: PostgresOptions): Kysely<T> {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: 'gatewright',
  });
  // An error of an idle connection must not end the process. The pool replaces it; inside a transaction the next query
  // fails.
  pool.on('error', onLost);
  pool.on('connect', client => client.on('error', () => undefined));
  const dialect = new PostgresDialect({ pool: { connect: () => connect(pool, isDeferred), end: () => pool.end() } });
  return new Kysely<T>({ dialect, ...(log ? { log } : {}) });
}

async function connect(pool: pg.Pool, isDeferred?: () => boolean): Promise<pg.PoolClient> {
  if (isDeferred?.()) throw createNotConnectedProblem();
  try {
    return await pool.connect();
  } catch (cause) {
    throw toUnreachableProblem(cause);
  }
}
