import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import type { StoredAcceptance, StoredTerms } from './schema.ts';

/** Number and name of a version, without its text. */
export interface TermsOutline {
  readonly ID: number;
  readonly Version: string;
}

export function createTermsStore(records: Records) {
  const terms = createNumberedStore<'portal_terms', StoredTerms>(
    records,
    'portal_terms',
    it => ({ version: it.Version, published_at: it.PublishedAt, product_id: it.ProductID ?? 0 }),
    problem.terms_exist,
  );
  const acceptances = createNumberedStore<'portal_terms_acceptances', StoredAcceptance>(
    records,
    'portal_terms_acceptances',
    it => ({ terms_id: it.TermsID, user_id: it.UserID }),
  );
  return {
    ...terms,
    acceptances,
    findVersion: (version: string) => terms.rows.find({ version }),
    /** The version in force, of the portal or of a product. */
    async findCurrent(productId = 0): Promise<TermsOutline | undefined> {
      const row = await records.db
        .selectFrom('portal_terms')
        .select(['id', 'version'])
        .where('product_id', '=', productId)
        .where('published_at', '>', 0)
        .orderBy('published_at', 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row && { ID: Number(row.id), Version: row.version };
    },
    async hasAccepted(userId: number, termsId: number): Promise<boolean> {
      return (await acceptances.count({ user_id: userId, terms_id: termsId })) > 0;
    },
    /** Records an acceptance, the first one of a user and version. */
    async accept(acceptance: Omit<StoredAcceptance, 'ID'>): Promise<void> {
      await records.write(async () => {
        const { UserID, TermsID } = acceptance;
        if ((await acceptances.count({ user_id: UserID, terms_id: TermsID })) === 0)
          await acceptances.insert(acceptance);
      });
    },
    removeOfUser: (userId: number) => acceptances.rows.remove({ user_id: userId }),
  };
}
