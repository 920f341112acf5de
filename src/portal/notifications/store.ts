import type { Clock } from '#base/clock.ts';
import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { completeChoices, type NotificationChoices, type NotificationKind } from './kinds.ts';

export interface StoredNotification {
  ID: number;
  UserID: number;
  Kind: NotificationKind;
  Title: string;
  /** Path on the site; empty without a page. */
  Path: string;
  IsRead: boolean;
  CreatedAt: number;
}

export type NotificationStore = ReturnType<typeof createNotificationStore>;

/** Notifications of one user; further ones replace the oldest. */
export const maxNotifications = 100;

export function createNotificationStore(records: Records, clock: Clock) {
  const notifications = createNumberedStore<'portal_notifications', StoredNotification>(
    records,
    'portal_notifications',
    it => ({ user_id: it.UserID, is_read: Number(it.IsRead) }),
  );
  const page = { page: 1, per_page: maxNotifications };

  async function removeSurplus(userId: number): Promise<void> {
    const newest = records.db
      .selectFrom('portal_notifications')
      .select('id')
      .where('user_id', '=', userId)
      .orderBy('id', 'desc')
      .limit(maxNotifications);
    await records.db
      .deleteFrom('portal_notifications')
      .where('user_id', '=', userId)
      .where('id', 'not in', newest)
      .execute();
  }

  async function readChoices(userId: number): Promise<NotificationChoices> {
    const query = records.db.selectFrom('portal_notification_choices').select('body').where('user_id', '=', userId);
    const row = await query.executeTakeFirst();
    return completeChoices(row && (JSON.parse(row.body) as Partial<NotificationChoices>));
  }

  return {
    readChoices,
    async writeChoices(userId: number, choices: Partial<NotificationChoices>): Promise<void> {
      const body = JSON.stringify(completeChoices(choices));
      await records.db
        .insertInto('portal_notification_choices')
        .values({ user_id: userId, body })
        .onConflict(it => it.column('user_id').doUpdateSet({ body }))
        .execute();
    },
    /** Adds a notification where the user wants it on the site. */
    async add(userId: number, Kind: NotificationKind, Title: string, Path = ''): Promise<void> {
      if (!(await readChoices(userId))[Kind].site) return;
      await notifications.insert({ UserID: userId, Kind, Title, Path, IsRead: false, CreatedAt: clock.now() });
      await removeSurplus(userId);
    },
    /** Newest first. */
    ofUser: (userId: number) => notifications.page(page, { user_id: userId }),
    countUnread: (userId: number) => notifications.count({ user_id: userId, is_read: 0 }),
    /** Marks the notifications of a user up to one as read. */
    async markRead(userId: number, lastId: number): Promise<void> {
      await records.write(async () => {
        for (const { ID } of await notifications.all({ user_id: userId, is_read: 0 }))
          if (ID <= lastId) await notifications.change(ID, it => ({ ...it, IsRead: true }));
      });
    },
    async removeOfUser(userId: number): Promise<void> {
      await notifications.rows.remove({ user_id: userId });
      await records.db.deleteFrom('portal_notification_choices').where('user_id', '=', userId).execute();
    },
  };
}
