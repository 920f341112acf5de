import pg from 'pg';
import { databaseProblem, problem, unreachable } from './database-errors.ts';
import { type Reader, statementsKept } from './reader.ts';

/** A database that takes longer, to be reached or to answer, counts as away. */
const connectTimeoutMs = 5000;
const answerTimeoutMs = 10_000;
/** Calls of one thread that may wait for a connection at once. */
const waitingAtOnce = 1000;

export function postgresReader(url: string, connections: number, onLost: (error: Error) => void): Reader {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: answerTimeoutMs,
    keepAlive: true,
    application_name: 'gatewright traffic',
  });
  pool.on('error', onLost);
  pool.on('connect', client => client.on('error', () => undefined));
  const numbered = new Map<string, string>();
  const withNumbers = (sql: string) => {
    let place = 0;
    return sql.replaceAll('?', () => `$${++place}`);
  };
  return {
    async rows<R>(sql: string, values: readonly (string | number)[]): Promise<R[]> {
      let text = numbered.get(sql);
      if (text === undefined) {
        text = withNumbers(sql);
        if (numbered.size >= statementsKept) numbered.clear();
        numbered.set(sql, text);
      }
      if (pool.waitingCount >= waitingAtOnce) throw problem.away({ detail: { reason: 'too many wait for it' } });
      const client = await pool.connect().catch(error => {
        throw unreachable(error);
      });
      return asked<R>(client, text, values);
    },
    close: () => pool.end(),
  };
}

async function asked<R>(client: pg.PoolClient, text: string, values: readonly (string | number)[]): Promise<R[]> {
  try {
    const { rows } = await client.query(text, [...values]);
    client.release();
    return rows as R[];
  } catch (error) {
    // Nobody knows what a connection that failed still has to say.
    client.release(true);
    throw databaseProblem(error) ?? error;
  }
}
