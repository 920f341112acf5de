import type { Records } from '#storage/records.ts';

/** Entries of a full changelog, in a few statements. */
const maxEntries = 2000;
const rowsPerInsert = 200;

export async function fillChangelog({ db }: Records, productId: number, entries = maxEntries): Promise<void> {
  const row = { product_id: productId, released_at: 1, body: '{}' };
  for (let start = 0; start < entries; start += rowsPerInsert) {
    const rows = Array.from({ length: Math.min(rowsPerInsert, entries - start) }, () => row);
    await db
      .insertInto('portal_changelog')
      .values(rows as never)
      .execute();
  }
}
