import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';

/** How long a start or a query may wait for a free connection before it fails with a sentence. */
const connectTimeoutMs = 10_000;

/** Counts come back as 64-bit text; none of ours leaves the range a number holds exactly. */
const int8 = 20;
pg.types.setTypeParser(int8, Number);

export function openPostgres(url: string, connections: number, onIdleError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'gatewright',
  });
  // A connection that dies while nobody uses it must not end the process; the pool opens another.
  pool.on('error', onIdleError);
  return pool;
}

export const postgresKysely = <T>(pool: pg.Pool): Kysely<T> =>
  new Kysely<T>({ dialect: new PostgresDialect({ pool }) });
