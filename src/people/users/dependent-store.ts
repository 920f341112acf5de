import type { Records } from '#storage/records.ts';
import type { StoredUser } from './schema.ts';

/** Changes that end the sessions of a user, and make links to set a password void. */
const endsSessions = (before: StoredUser, after: StoredUser): boolean =>
  (['password', 'access_key', 'active', 'org_id', 'email_address'] as const).some(
    name => !Object.is(before[name], after[name]),
  );

const sessionTables = ['sessions', 'sign_in_tokens'] as const;
const allTables = [...sessionTables, 'user_factors'] as const;

/** Rows that depend on a user, changed and removed in the transaction that changes or removes it. */
export function createUserDependents(records: Records) {
  return {
    async onChange(before: StoredUser, after: StoredUser): Promise<void> {
      if (!endsSessions(before, after)) return;
      for (const table of sessionTables) await records.db.deleteFrom(table).where('user_id', '=', before.id).execute();
      await records.db
        .updateTable('user_factors')
        .set({ org_id: after.org_id })
        .where('user_id', '=', before.id)
        .execute();
    },
    async onRemove(orgId: string, userId?: string): Promise<void> {
      for (const table of allTables) {
        const query = records.db.deleteFrom(table).where('org_id', '=', orgId);
        await (userId === undefined ? query : query.where('user_id', '=', userId)).execute();
      }
    },
  };
}
