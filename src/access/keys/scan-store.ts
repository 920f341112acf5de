import { setImmediate } from 'node:timers/promises';
import { type SqlBool, sql } from 'kysely';
import type { Records } from '#storage/records.ts';
import type { Tables } from '#storage/tables.ts';
import { buildKeyConditions, type KeyListFilter } from './filter-store.ts';
import type { KeyRow } from './key-row.ts';

/** Keyset scans of keys without their bodies. */

/** Rows per query, and ids decrypted per event-loop turn. */
export const scanBatchSize = 1000;

export type KeyIdRow = Pick<KeyRow, 'id' | 'sealed' | 'key_hash'>;
export type ScanRow = KeyIdRow & Pick<KeyRow, 'digest' | 'kind'> & ScannedNumbers;

interface ScannedNumbers {
  readonly created_at: number;
  readonly expires_at: number;
  readonly inactive: number;
}

export const scanColumns = [
  'id',
  'created_at',
  'digest',
  'sealed',
  'key_hash',
  'kind',
  'expires_at',
  'inactive',
] as const satisfies (keyof Tables['keys'])[];

/** Keys of an organisation in batches, newest first, without their bodies. */
export const scanKeys = (records: Records, orgId: string, filter?: KeyListFilter): AsyncGenerator<ScanRow[]> =>
  scanBatches<ScanRow>(last => buildScan(records, orgId, filter, last).execute());

/** Keyset pagination over all keys, yielding to the event loop between batches. */
export async function* scanBatches<Row>(fetchBatch: (last?: Row) => Promise<Row[]>) {
  let rows = await fetchBatch();
  while (rows.length > 0) {
    yield rows;
    if (rows.length < scanBatchSize) return;
    await setImmediate();
    rows = await fetchBatch(rows.at(-1));
  }
}

/** Next batch of a keyset scan, after `last`. */
export function buildScan(
  records: Records,
  orgId: string,
  filter: KeyListFilter = {},
  last?: { readonly created_at: number; readonly id: string },
) {
  const conditions = buildKeyConditions(records, orgId, filter);
  const query = records.db
    .selectFrom('keys')
    .select(scanColumns)
    .where('org_id', '=', orgId)
    .where(it => it.and(conditions.map(condition => condition(it))))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(scanBatchSize);
  return last ? query.where(sql<SqlBool>`(created_at, id) < (${last.created_at}, ${last.id})`) : query;
}
