/**
 * Read-only database access of a traffic thread. Returns rows synchronously where the engine can. SQL uses `?`
 * placeholders on both engines.
 */
export interface Reader {
  rows<R>(sql: string, values: readonly (string | number)[]): R[] | Promise<R[]>;
  close(): Promise<void>;
}

/** Bounds the statement cache: statements differ only in their number of placeholders. */
export const maxPreparedStatements = 2000;
