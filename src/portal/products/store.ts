import { sql } from 'kysely';
import { createSortableId } from '#base/ids.ts';
import type { RecordChange } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import { createNumberedStore, toPolicyFilter } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import { createPageSearch } from '../search-store.ts';
import { toSlug } from '../shapes.ts';
import type { StoredProduct } from './schema.ts';
import { recordProductWords } from './word-store.ts';

export function createProductStore(records: Records, reportChange: RecordChange) {
  const products = createNumberedStore<'portal_products', StoredProduct>(
    records,
    'portal_products',
    it => ({
      cid: it.CID,
      provider_id: it.ProviderID,
      reference_id: it.ReferenceID,
      name: it.Name,
      path: it.Path,
      hidden: Number(it.Hidden),
      featured: Number(it.Feature),
    }),
    problem.product_exists,
    async change => {
      await recordProductWords(records, change);
      await reportChange(change);
    },
  );
  return {
    ...products,
    searchPage: createPageSearch(records, 'portal_products', products, ({ Name, DisplayName }) => [Name, DisplayName]),
    /** Products of these policies, of any provider. */
    findByPolicies: (policyIds: readonly string[]) => products.rows.all(toPolicyFilter(policyIds)),
    ofProvider: (providerId: number) => products.all({ provider_id: providerId }),

    /** Inserts a product, or replaces the one a concurrent synchronisation created for the same policy. */
    async insertOrReplaceSynchronized(product: StoredProduct): Promise<StoredProduct> {
      const { ProviderID, ReferenceID } = product;
      const synchronized = ReferenceID
        ? await products.rows.find({ provider_id: ProviderID, reference_id: ReferenceID })
        : undefined;
      if (!synchronized) return products.insert(product);
      return (await products.change(synchronized.ID, ({ ID }) => ({ ...product, ID }))) ?? products.insert(product);
    },

    /** Checked before the policy is created; the unique index decides between concurrent writes. */
    async refuseTaken({ ID, CID, Path }: StoredProduct): Promise<void> {
      const others = [await products.rows.find({ path: Path }), await products.rows.find({ cid: CID })];
      if (others.some(other => other && other.ID !== ID)) throw problem.product_exists();
    },

    /** Unused path from the name: `orders`, `orders-2`, … */
    async findFreePath(name: string, nowMs: number): Promise<string> {
      const slug = toSlug(name) || createSortableId(nowMs);
      const rows = await records.db
        .selectFrom('portal_products')
        .select('path')
        .where(sql<boolean>`path = ${slug} or path like ${`${slug}-%`}`)
        .execute();
      const taken = new Set(rows.map(({ path }) => path));
      let path = slug;
      for (let number = 2; taken.has(path); number++) path = `${slug}-${number}`;
      return path;
    },
  };
}
