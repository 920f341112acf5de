import type { Records } from '#storage/records.ts';
import { lockUser } from '../users/change-store.ts';
import { Preferences } from './schema.ts';

export type PreferenceStore = ReturnType<typeof createPreferenceStore>;

/** A user of an organisation. */
interface PreferenceOwner {
  readonly orgId: string;
  readonly userId: string;
}

/** One row per user; `createUserChanges` deletes it with the user. */
export const createPreferenceStore = (records: Records) => ({
  async find({ orgId, userId }: PreferenceOwner): Promise<Preferences | undefined> {
    const row = await records.db
      .selectFrom('user_preferences')
      .select('body')
      .where('user_id', '=', userId)
      .where('org_id', '=', orgId)
      .executeTakeFirst();
    // Defaults of members that a later version added.
    return row && Preferences.parse(JSON.parse(row.body));
  },

  /** False where the user does not exist. */
  async replace({ orgId, userId }: PreferenceOwner, preferences: Preferences, nowMs: number): Promise<boolean> {
    const values = { org_id: orgId, updated_at: nowMs, body: JSON.stringify(preferences) };
    return records.write(async () => {
      if (!(await lockUser(records, orgId, userId))) return false;
      await records.db
        .insertInto('user_preferences')
        .values({ user_id: userId, ...values })
        .onConflict(it => it.column('user_id').doUpdateSet(values))
        .execute();
      return true;
    });
  },
});
