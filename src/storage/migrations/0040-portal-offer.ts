import type { Migration, Schema } from '../migration.ts';

const rowsPerRead = 500;

/** Columns and an index by which pages of the catalogue are read. */
export const portalOffer: Migration = {
  name: 'portal-offer',
  async up(schema) {
    await schema.run('alter table portal_products add column hidden integer not null default 0');
    await schema.run('alter table portal_products add column featured integer not null default 0');
    await fillProducts(schema);
    await schema.run('create index portal_products_offer on portal_products (hidden, featured desc, lower(name), id)');
  },
};

async function fillProducts({ db }: Schema): Promise<void> {
  for (let last = 0; ; ) {
    const rows = await db
      .selectFrom('portal_products')
      .select(['id', 'body'])
      .where('id', '>', last)
      .orderBy('id')
      .limit(rowsPerRead)
      .execute();
    for (const { id, body } of rows) {
      const { Hidden, Feature } = JSON.parse(body) as { Hidden?: boolean; Feature?: boolean };
      const row = { hidden: Number(Hidden === true), featured: Number(Feature === true) };
      if (row.hidden + row.featured > 0)
        await db.updateTable('portal_products').set(row).where('id', '=', id).execute();
    }
    if (rows.length < rowsPerRead) return;
    last = Number(rows.at(-1)!.id);
  }
}
