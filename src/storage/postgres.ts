import { Kysely, type LogConfig, PostgresDialect } from 'kysely';
import pg from 'pg';
import { createNotConnectedProblem, toUnreachableProblem } from './database-errors.ts';

/** How long a start or a query may wait for a free connection before it fails with a sentence. */
const connectTimeoutMs = 10_000;

/** Counts come back as 64-bit text; none of ours leaves the range a number holds exactly. */
const int8 = 20;
pg.types.setTypeParser(int8, Number);

export interface PostgresOptions {
  readonly url: string;
  readonly connections: number;
  /** Told of idle connections that are lost. */
  onLost(error: Error): void;
  readonly log?: LogConfig;
  /** Whether nobody may ask it yet. */
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
  // A connection that dies while nobody waits for it must not end the process. In the pool it is replaced; between two
  // queries of a transaction the next query says so.
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
