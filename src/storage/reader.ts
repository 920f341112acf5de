import type { StatementSync } from 'node:sqlite';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';

/**
 * How a traffic thread reads records: it never writes, and where the engine can answer at once it does, without a promise.
 * Statements are written with `?` for values, on both engines.
 */
export interface Reader {
  rows<R>(sql: string, values: readonly (string | number)[]): R[] | Promise<R[]>;
  close(): Promise<void>;
}

export interface ReaderOptions {
  url?: string;
  file?: string;
  connections?: number;
  onLost?: (error: Error) => void;
}

export function openReader({ url, file, connections = 4, onLost = () => undefined }: ReaderOptions): Reader {
  return url ? postgresReader(url, connections, onLost) : sqliteReader(file!);
}

/** A connection of the thread's own. Writers do not wait for it, nor it for them. */
function sqliteReader(file: string): Reader {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  const prepared = new Map<string, StatementSync>();
  return {
    rows<R>(sql: string, values: readonly (string | number)[]): R[] {
      let statement = prepared.get(sql);
      if (!statement) {
        statement = database.prepare(sql);
        prepared.set(sql, statement);
      }
      return statement.all(...values) as R[];
    },
    close: async () => database.close(),
  };
}

function postgresReader(url: string, connections: number, onLost: (error: Error) => void): Reader {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: 5000,
    application_name: 'gatewright traffic',
  });
  pool.on('error', onLost);
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
        numbered.set(sql, text);
      }
      return (await pool.query(text, [...values])).rows as R[];
    },
    close: () => pool.end(),
  };
}
