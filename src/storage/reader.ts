import type { StatementSync } from 'node:sqlite';
import { DatabaseSync } from 'node:sqlite';

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

/** Statements kept ready: they differ only in how many values they ask for. */
export const maxPreparedStatements = 2000;

/** The driver is loaded by those who use it. */
export async function openReader(options: ReaderOptions): Promise<Reader> {
  const { url, file, connections = 4, onLost = () => undefined } = options;
  if (!url) return createSqliteReader(file!);
  const { createPostgresReader: postgresReader } = await import('./reader-postgres.ts');
  return postgresReader(url, connections, onLost);
}

/** A connection of the thread's own. Writers do not wait for it, nor it for them. */
function createSqliteReader(file: string): Reader {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  const prepared = new Map<string, StatementSync>();
  return {
    rows<R>(sql: string, values: readonly (string | number)[]): R[] {
      let statement = prepared.get(sql);
      if (!statement) {
        statement = database.prepare(sql);
        if (prepared.size >= maxPreparedStatements) prepared.clear();
        prepared.set(sql, statement);
      }
      return statement.all(...values) as R[];
    },
    close: async () => database.close(),
  };
}
