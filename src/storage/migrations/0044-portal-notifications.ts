import { createIndex, createTable, type Migration } from '../migration.ts';

/** Notifications of users of the portal, and which of them they want. */
export const portalNotifications: Migration = {
  name: 'portal-notifications',
  async up(schema) {
    await createTable(schema, 'portal_notifications', {
      id: 'serial',
      body: 'text not null',
      user_id: 'number not null',
      is_read: 'number not null',
    });
    await createIndex(schema, 'portal_notifications', 'user', 'user_id, is_read, id');
    await createTable(schema, 'portal_notification_choices', { user_id: 'number primary key', body: 'text not null' });
  },
};
