import type { createCollection } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import { hasChangedCredentials } from './credential-version.ts';
import type { StoredUser } from './schema.ts';

const dependentTables = [
  'sessions',
  'sign_in_tokens',
  'user_factors',
  'account_links',
  'user_preferences',
  'notification_marks',
] as const;
/** Rows about objects of the organisation that a user leaves. */
const organisationTables = ['account_links', 'user_preferences', 'notification_marks'] as const;

/**
 * Locks the row of a user by an update, inside a write that adds rows which depend on it: none outlives a user that is
 * deleted concurrently. False where there is no such user.
 */
export async function lockUser(records: Records, orgId: string, userId: string): Promise<boolean> {
  const { numUpdatedRows } = await records.db
    .updateTable('users')
    .set({ id: userId })
    .where('id', '=', userId)
    .where('org_id', '=', orgId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Rows that depend on a user. */
function createDependents(records: Records) {
  /** Ends the sessions of a user, and those of the nonces that it created. */
  async function endSessions(userId: string): Promise<void> {
    for (const column of ['user_id', 'creator_id'] as const)
      await records.db.deleteFrom('sessions').where(column, '=', userId).execute();
  }

  return {
    async onChange(before: StoredUser, after: StoredUser): Promise<void> {
      if (!hasChangedCredentials(before, after)) return;
      if (before.org_id !== after.org_id)
        for (const table of organisationTables)
          await records.db.deleteFrom(table).where('user_id', '=', before.id).execute();
      await endSessions(before.id);
      await records.db.deleteFrom('sign_in_tokens').where('user_id', '=', before.id).execute();
      // A link was made by the e-mail address: with another one it is made again.
      if (before.email_address !== after.email_address)
        await records.db.deleteFrom('account_links').where('user_id', '=', before.id).execute();
      await records.db
        .updateTable('user_factors')
        .set({ org_id: after.org_id })
        .where('user_id', '=', before.id)
        .execute();
    },
    async onRemove(orgId: string, userId?: string): Promise<void> {
      if (userId !== undefined) await endSessions(userId);
      for (const table of dependentTables) {
        const query = records.db.deleteFrom(table).where('org_id', '=', orgId);
        await (userId === undefined ? query : query.where('user_id', '=', userId)).execute();
      }
    },
  };
}

type UserCollection = Pick<ReturnType<typeof createCollection<'users', StoredUser>>, 'change' | 'remove'>;

interface UserCodec {
  seal(user: StoredUser): StoredUser;
  open(stored: StoredUser): StoredUser;
}

/** Changes and removals of users, with what depends on a user in the same transaction. */
export function createUserChanges(records: Records, users: UserCollection, { seal, open }: UserCodec) {
  const dependents = createDependents(records);
  return {
    async change(where: { id: string; org_id?: string }, change: (user: StoredUser) => StoredUser) {
      const changed = await users.change(where, async stored => {
        const before = open(stored);
        const after = change(before);
        await dependents.onChange(before, after);
        return seal(after);
      });
      return changed && open(changed);
    },
    remove: (orgId: string, id: string) =>
      records.write(async () => {
        // The user first: a concurrent write that locks its row has added its rows by then, or finds no user.
        const isRemoved = await users.remove({ org_id: orgId, id });
        await dependents.onRemove(orgId, id);
        return isRemoved;
      }),
    removeAll: (orgId: string) =>
      records.write(async () => {
        const isRemoved = await users.remove({ org_id: orgId });
        await dependents.onRemove(orgId);
        return isRemoved;
      }),
  };
}
