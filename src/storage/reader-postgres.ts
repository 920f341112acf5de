import pg from 'pg';
import { Lru } from '#base/lru.ts';
import { problem, toDatabaseProblem, toUnreachableProblem } from './database-errors.ts';
import { maxPreparedStatements, type Reader } from './reader.ts';

/** A database that takes longer to connect or to answer counts as unavailable. */
const connectTimeoutMs = 5000;
const queryTimeoutMs = 10_000;
/** Queries of one thread that may wait for a connection. */
const maxWaitingQueries = 1000;

export function createPostgresReader(url: string, connections: number, onLost: (error: Error) => void): Reader {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    application_name: 'gatewright traffic',
  });
  pool.on('error', onLost);
  pool.on('connect', client => client.on('error', () => undefined));
  const numberedStatements = new Lru<string, string>(maxPreparedStatements);
  const numberPlaceholders = (sql: string) => {
    let count = 0;
    return sql.replaceAll('?', () => `$${++count}`);
  };
  return {
    async rows<R>(sql: string, values: readonly (string | number)[]): Promise<R[]> {
      let text = numberedStatements.get(sql);
      if (text === undefined) {
        text = numberPlaceholders(sql);
        numberedStatements.set(sql, text);
      }
      if (pool.waitingCount >= maxWaitingQueries)
        throw problem.unavailable({ detail: { reason: 'too many requests wait for a connection' } });
      const client = await pool.connect().catch(error => {
        throw toUnreachableProblem(error);
      });
      return runQuery<R>(client, text, values);
    },
    close: () => pool.end(),
  };
}

async function runQuery<R>(client: pg.PoolClient, text: string, values: readonly (string | number)[]): Promise<R[]> {
  try {
    const { rows } = await client.query(text, [...values]);
    client.release();
    return rows as R[];
  } catch (error) {
    // A failed connection may still have replies in flight: it is destroyed, not pooled.
    client.release(true);
    throw toDatabaseProblem(error) ?? error;
  }
}
