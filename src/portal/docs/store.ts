import { sql } from 'kysely';
import type { RowChange } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import { readDocuments } from '../batch-store.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import { listGuideEntries } from '../search/entries.ts';
import { toGuideOwner } from '../search/schema.ts';
import type { EntryStore } from '../search/store.ts';
import type { PortalPageQuery } from '../shapes.ts';
import type { StoredDoc } from './schema.ts';

const readIndexed = ({ Title, Lede, Path, Status, MarkdownEnabled, MarkdownContent, Content }: StoredDoc) =>
  JSON.stringify([Title, Lede, Path, Status, MarkdownEnabled, MarkdownContent, Content]);

/** Indexes a doc for searches in the transaction that writes it; a new position changes nothing. */
async function recordDocWords({ id, before, after }: RowChange, search: EntryStore): Promise<void> {
  const owner = toGuideOwner(Number(id));
  if (after === undefined) return search.removeOwner(owner);
  const doc = JSON.parse(after) as StoredDoc;
  const former = before === undefined ? undefined : (JSON.parse(before) as StoredDoc);
  // A new row is written twice: without its number first.
  if (former && former.ID === doc.ID && readIndexed(former) === readIndexed(doc)) return;
  await search.replace({ owner, productId: doc.ProductID }, listGuideEntries(doc));
}

/** Docs of products, in the order that their administrator set. */
export function createDocStore(records: Records, search: EntryStore) {
  const { rows, insert, change, remove } = createNumberedStore<'portal_product_docs', StoredDoc>(
    records,
    'portal_product_docs',
    it => ({ product_id: it.ProductID, position: it.Position, path: it.Path }),
    problem.doc_exists,
    change => recordDocWords(change, search),
  );

  return {
    insert,
    change,
    remove,
    find: (id: number) => rows.find({ id }),
    /** In their order, in batches: docs are long. */
    readOfProduct: (productId: number) =>
      readDocuments<StoredDoc>(
        records,
        'portal_product_docs',
        sql`from portal_product_docs where product_id = ${productId} order by position, id`,
      ),
    get: (productId: number, id: number) => rows.find({ product_id: productId, id }),

    async page(productId: number, { page, per_page, limit = per_page }: PortalPageQuery): Promise<StoredDoc[]> {
      const query = rows.listing({ where: { product_id: productId }, order: ['position', 'id'] });
      const found = await query
        .limit(Math.min(limit, per_page))
        .offset((page - 1) * per_page)
        .execute();
      return found.map(rows.parse);
    },

    /** Ids in order, and the last position. */
    async readOrder(productId: number): Promise<{ ids: number[]; lastPosition: number }> {
      const found = await records.db
        .selectFrom('portal_product_docs')
        .select(['id', 'position'])
        .where('product_id', '=', productId)
        .orderBy('position')
        .orderBy('id')
        .execute();
      return { ids: found.map(({ id }) => Number(id)), lastPosition: Number(found.at(-1)?.position ?? 0) };
    },

    async removeOfProduct(productId: number): Promise<void> {
      await sql`delete from portal_product_docs where product_id = ${productId}`.execute(records.db);
    },
  };
}
