import { type RawBuilder, sql } from 'kysely';
import type { PortalTables } from '#storage/portal-tables.ts';
import type { Records } from '#storage/records.ts';

/** Bounds the values of one statement: engines limit their number. */
const maxBatchSize = 1000;
/** Bounds the documents of one statement: memory does not grow with their size. */
const maxBatchChars = 4 * 1024 * 1024;

export function* toBatches<Value>(values: readonly Value[]): Generator<readonly Value[]> {
  for (let start = 0; start < values.length; start += maxBatchSize) yield values.slice(start, start + maxBatchSize);
}

/** A row whose document is not read yet. */
export interface MeasuredRow {
  readonly id: number;
  readonly length: number;
}

/** Consecutive rows of at most `maxChars` in all; a larger one is a batch of its own. */
export function* toLengthBatches(rows: readonly MeasuredRow[], maxChars = maxBatchChars): Generator<number[]> {
  let batch: number[] = [];
  let chars = 0;
  for (const { id, length } of rows) {
    if (batch.length > 0 && (chars + length > maxChars || batch.length >= maxBatchSize)) {
      yield batch;
      [batch, chars] = [[], 0];
    }
    batch.push(id);
    chars += length;
  }
  if (batch.length > 0) yield batch;
}

export type DocumentTable = {
  [T in keyof PortalTables]: PortalTables[T] extends { id: number; body: string } ? T : never;
}[keyof PortalTables];

/**
 * Documents of `rows`, a part of a statement that begins with `from`, in its order and in batches of bounded length:
 * only one batch is in memory at a time.
 */
export async function* readDocuments<Doc extends { ID: number }>(
  records: Records,
  table: DocumentTable,
  rows: RawBuilder<unknown>,
): AsyncGenerator<Doc[]> {
  const measured = await sql<MeasuredRow>`select id, length(body) as length ${rows}`.execute(records.db);
  const lengths = measured.rows.map(({ id, length }) => ({ id: Number(id), length: Number(length) }));
  for (const ids of toLengthBatches(lengths)) {
    const query = sql<{ body: string }>`select body from ${sql.table(table)} where id in (${sql.join(ids)})`;
    const docs = (await query.execute(records.db)).rows.map(({ body }) => JSON.parse(body) as Doc);
    const byId = new Map(docs.map(doc => [doc.ID, doc]));
    yield ids.flatMap(id => byId.get(id) ?? []);
  }
}
