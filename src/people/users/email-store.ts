import type { createCollection } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import type { StoredUser } from './schema.ts';

/** Accounts of one e-mail address that a sign-in without an organisation tries. */
const maxAccountsPerEmail = 4;

type UserCollection = Pick<ReturnType<typeof createCollection<'users', StoredUser>>, 'page'>;

/** Look-ups by e-mail address, for sign-ins. */
export const createEmailLookup = (
  records: Records,
  users: UserCollection,
  open: (stored: StoredUser) => StoredUser,
) => ({
  /** Accounts of an address, one for each organisation; that of one organisation where it is given. */
  async findByEmail(email: string, orgId?: string): Promise<StoredUser[]> {
    const where = { email, ...(orgId !== undefined && { org_id: orgId }) };
    const { items } = await users.page({ where, order: ['created_at', 'id'] }, { page: 1, size: maxAccountsPerEmail });
    return items.map(open);
  },

  /** Largest number of accounts that one address has, up to the bound. */
  async countAccountsPerEmail(): Promise<number> {
    const shared = await records.db
      .selectFrom('users')
      .select(it => it.fn.countAll<number>().as('total'))
      .groupBy('email')
      .orderBy('total', 'desc')
      .limit(1)
      .executeTakeFirst();
    return Math.min(Number(shared?.total ?? 0), maxAccountsPerEmail);
  },
});
