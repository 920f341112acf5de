import { createSortableId } from '#base/ids.ts';
import { createIndex, createTable, type Migration, type Schema } from '../migration.ts';

const numbered = { id: 'serial', body: 'text not null' };
const named = { ...numbered, cid: 'text not null unique', name: 'text not null' };
const reference = 'number not null';
const rowsPerRead = 500;

/** Tags of products and posts by id, documents of products, OAuth providers with their client types. */
export const portalPublishing: Migration = {
  name: 'portal-publishing',
  async up(schema) {
    const pairs = async (name: string, left: string, right: string) => {
      await createTable(schema, name, { [left]: reference, [right]: reference }, `primary key (${left}, ${right})`);
      await createIndex(schema, name, 'reverse', `${right}, ${left}`);
    };
    await pairs('portal_product_tags', 'tag_id', 'product_id');
    await pairs('portal_post_tags', 'tag_id', 'post_id');
    await pairs('portal_product_client_types', 'client_type_id', 'product_id');
    await createTable(
      schema,
      'portal_product_docs',
      { ...numbered, product_id: reference, position: reference, path: 'text not null' },
      'unique (product_id, path)',
    );
    await createIndex(schema, 'portal_product_docs', 'order', 'product_id, position, id');
    await createTable(schema, 'portal_oauth_providers', named);
    await createTable(schema, 'portal_client_types', { ...named, provider_id: reference });
    await createIndex(schema, 'portal_client_types', 'provider', 'provider_id, id');
    await createIndex(schema, 'portal_client_types', 'name', 'name');
    await moveProductTags(schema);
    await indexPostTags(schema);
  },
};

/** Products had the names of their tags in the document. */
async function moveProductTags(schema: Schema): Promise<void> {
  for (let last = 0; ; ) {
    const rows = await schema.db
      .selectFrom('portal_products')
      .select(['id', 'body'])
      .where('id', '>', last)
      .orderBy('id')
      .limit(rowsPerRead)
      .execute();
    for (const { id, body } of rows) {
      const { Tags = [], ...product } = JSON.parse(body) as { Tags?: string[]; CreatedAt: number };
      for (const name of new Set(Tags.map(toTagName))) {
        const tag_id = await findOrCreateTag(schema, name, product.CreatedAt);
        await schema.db.insertInto('portal_product_tags').values({ tag_id, product_id: id }).execute();
      }
      await schema.db
        .updateTable('portal_products')
        .set({ body: JSON.stringify(product) })
        .where('id', '=', id)
        .execute();
    }
    if (rows.length < rowsPerRead) return;
    last = Number(rows.at(-1)!.id);
  }
}

/** A number as name would be read as an id in the lists of references that products are written with. */
const toTagName = (name: string): string => (/^\d+$/.test(name) ? `tag-${name}` : name);

async function findOrCreateTag({ db }: Schema, name: string, nowMs: number): Promise<number> {
  const found = await db.selectFrom('portal_tags').select('id').where('name', '=', name).executeTakeFirst();
  if (found) return Number(found.id);
  const cid = createSortableId(nowMs);
  const inserted = await db
    .insertInto('portal_tags')
    .values({ cid, name, body: '{}' } as never)
    .returning('id')
    .executeTakeFirstOrThrow();
  const id = Number(inserted.id);
  const tag = { ID: id, CID: cid, Name: name, CreatedAt: nowMs, UpdatedAt: nowMs };
  await db
    .updateTable('portal_tags')
    .set({ body: JSON.stringify(tag) })
    .where('id', '=', id)
    .execute();
  return id;
}

async function indexPostTags({ db }: Schema): Promise<void> {
  const known = new Set((await db.selectFrom('portal_tags').select('id').execute()).map(({ id }) => Number(id)));
  for (let last = 0; ; ) {
    const rows = await db
      .selectFrom('portal_posts')
      .select(['id', 'body'])
      .where('id', '>', last)
      .orderBy('id')
      .limit(rowsPerRead)
      .execute();
    for (const { id, body } of rows) {
      const { Tags = [] } = JSON.parse(body) as { Tags?: number[] };
      for (const tag_id of new Set(Tags.filter(each => known.has(each))))
        await db.insertInto('portal_post_tags').values({ tag_id, post_id: id }).execute();
    }
    if (rows.length < rowsPerRead) return;
    last = Number(rows.at(-1)!.id);
  }
}
