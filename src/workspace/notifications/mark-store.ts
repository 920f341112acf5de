import { lockUser } from '#people/users/change-store.ts';
import type { Records } from '#storage/records.ts';

export type MarkStore = ReturnType<typeof createMarkStore>;

export type MarkKind = 'read' | 'muted';

export interface MarkOwner {
  readonly orgId: string;
  readonly userId: string;
}

/** Marks of users at notifications and topics; `createUserChanges` deletes them with the user. */
export const createMarkStore = (records: Records) => ({
  async list({ orgId, userId }: MarkOwner): Promise<{ read: ReadonlySet<string>; muted: ReadonlySet<string> }> {
    const rows = await records.db
      .selectFrom('notification_marks')
      .select(['kind', 'name'])
      .where('user_id', '=', userId)
      .where('org_id', '=', orgId)
      .execute();
    const namesOf = (kind: MarkKind) => new Set(rows.filter(row => row.kind === kind).map(({ name }) => name));
    return { read: namesOf('read'), muted: namesOf('muted') };
  },

  /** Replaces all marks of a kind: those of notifications that no longer exist go. False where there is no such user. */
  replace: ({ orgId, userId }: MarkOwner, kind: MarkKind, names: readonly string[], nowMs: number): Promise<boolean> =>
    records.write(async () => {
      if (!(await lockUser(records, orgId, userId))) return false;
      await records.db
        .deleteFrom('notification_marks')
        .where('user_id', '=', userId)
        .where('kind', '=', kind)
        .execute();
      const rows = names.map(name => ({ user_id: userId, org_id: orgId, kind, name, at: nowMs }));
      if (rows.length > 0) await records.db.insertInto('notification_marks').values(rows).execute();
      return true;
    }),
});
