import { createIndex, type Migration, type Schema } from '../migration.ts';

const rowsPerRead = 500;

/** Dates of posts of the blog: from then on visitors see a published one. */
export const portalPostDates: Migration = {
  name: 'portal-post-dates',
  async up(schema) {
    await schema.run('alter table portal_posts add column published_at bigint not null default 0');
    await createIndex(schema, 'portal_posts', 'published', 'status, published_at desc, id desc');
    await indexPostDates(schema);
  },
};

/** The date of posts of earlier versions is the time of their creation. */
async function indexPostDates({ db }: Schema): Promise<void> {
  for (let last = 0; ; ) {
    const rows = await db
      .selectFrom('portal_posts')
      .select(['id', 'body'])
      .where('id', '>', last)
      .orderBy('id')
      .limit(rowsPerRead)
      .execute();
    for (const { id, body } of rows) {
      const { CreatedAt = 0 } = JSON.parse(body) as { CreatedAt?: number };
      await db.updateTable('portal_posts').set({ published_at: CreatedAt }).where('id', '=', id).execute();
    }
    if (rows.length < rowsPerRead) return;
    last = Number(rows.at(-1)!.id);
  }
}
