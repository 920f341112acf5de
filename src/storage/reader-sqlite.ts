import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { Lru } from '#base/lru.ts';
import { maxPreparedStatements, type Reader } from './reader.ts';

/** One read-only connection per thread. In WAL mode readers and writers do not block each other. */
export function createSqliteReader(file: string): Reader {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  const prepared = new Lru<string, StatementSync>(maxPreparedStatements);
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
