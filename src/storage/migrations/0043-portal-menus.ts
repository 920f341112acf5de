import { createIndex, createTable, type Migration, type Schema } from '../migration.ts';

const reference = 'number not null';
const rowsPerRead = 500;

/** Menus of the site, and posts by category. */
export const portalMenus: Migration = {
  name: 'portal-menus',
  async up(schema) {
    await createTable(schema, 'portal_menus', {
      id: 'serial',
      body: 'text not null',
      cid: 'text not null unique',
      path: 'text not null unique',
    });
    await createTable(
      schema,
      'portal_post_categories',
      { category_id: reference, post_id: reference },
      'primary key (category_id, post_id)',
    );
    await createIndex(schema, 'portal_post_categories', 'reverse', 'post_id, category_id');
    await indexPostCategories(schema);
  },
};

/** Posts had the ids of their categories in the document alone. */
async function indexPostCategories({ db }: Schema): Promise<void> {
  const known = new Set((await db.selectFrom('portal_categories').select('id').execute()).map(({ id }) => Number(id)));
  for (let last = 0; ; ) {
    const rows = await db
      .selectFrom('portal_posts')
      .select(['id', 'body'])
      .where('id', '>', last)
      .orderBy('id')
      .limit(rowsPerRead)
      .execute();
    for (const { id, body } of rows) {
      const { Categories = [] } = JSON.parse(body) as { Categories?: number[] };
      for (const category_id of new Set(Categories.filter(each => known.has(each))))
        await db.insertInto('portal_post_categories').values({ category_id, post_id: id }).execute();
    }
    if (rows.length < rowsPerRead) return;
    last = Number(rows.at(-1)!.id);
  }
}
