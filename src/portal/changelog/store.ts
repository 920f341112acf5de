import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import type { PortalPageQuery } from '../shapes.ts';
import type { StoredChange } from './schema.ts';

/** Entries of changelogs, and the users who subscribed to a product. */
export function createChangelogStore(records: Records) {
  const changes = createNumberedStore<'portal_changelog', StoredChange>(records, 'portal_changelog', it => ({
    product_id: it.ProductID,
    released_at: it.ReleasedAt,
    announcing: it.AnnouncedTo === undefined ? 0 : 1,
  }));
  const subscription = (productId: number, userId: number) => ({ product_id: productId, user_id: userId });
  const listing = (productId: number) =>
    changes.rows.listing({ where: { product_id: productId }, order: ['-released_at', '-id'] });

  return {
    /** Newest release first. */
    async page(productId: number, { page, per_page, limit = per_page }: PortalPageQuery): Promise<StoredChange[]> {
      const rows = listing(productId).limit(Math.min(limit, per_page));
      return (await rows.offset((page - 1) * per_page).execute()).map(changes.rows.parse);
    },
    get: (productId: number, id: number) => changes.rows.find({ product_id: productId, id }),
    count: (productId: number) => changes.count({ product_id: productId }),
    insert: changes.insert,
    change: (productId: number, id: number, change: (it: StoredChange) => StoredChange | Promise<StoredChange>) =>
      changes.rows.change({ product_id: productId, id }, change),
    remove: (productId: number, id: number) => changes.rows.remove({ product_id: productId, id }),

    /** An entry with subscribers who are not notified yet. */
    nextAnnouncing: () => changes.rows.find({ announcing: 1 }),
    /** Users who subscribed, by their numbers, after this one. */
    async subscribersAfter(productId: number, userId: number, maxUsers: number): Promise<number[]> {
      const query = records.db.selectFrom('portal_product_subscribers').select('user_id');
      const after = query.where('product_id', '=', productId).where('user_id', '>', userId);
      return (await after.orderBy('user_id').limit(maxUsers).execute()).map(row => Number(row.user_id));
    },
    async isSubscribed(productId: number, userId: number): Promise<boolean> {
      const query = records.db.selectFrom('portal_product_subscribers').select('user_id');
      const own = query.where('product_id', '=', productId).where('user_id', '=', userId);
      return (await own.executeTakeFirst()) !== undefined;
    },
    async subscribe(productId: number, userId: number): Promise<void> {
      const query = records.db.insertInto('portal_product_subscribers').values(subscription(productId, userId));
      await query.onConflict(it => it.columns(['product_id', 'user_id']).doNothing()).execute();
    },
    async unsubscribe(productId: number, userId: number): Promise<void> {
      const query = records.db.deleteFrom('portal_product_subscribers').where('product_id', '=', productId);
      await query.where('user_id', '=', userId).execute();
    },
    async removeOfProduct(productId: number): Promise<void> {
      await changes.rows.remove({ product_id: productId });
      await records.db.deleteFrom('portal_product_subscribers').where('product_id', '=', productId).execute();
    },
    async removeOfUser(userId: number): Promise<void> {
      await records.db.deleteFrom('portal_product_subscribers').where('user_id', '=', userId).execute();
    },
  };
}
