import { createIndex, createTable, type Migration } from '../migration.ts';

/** Notifications that users have read, and topics that they have muted. */
export const notificationMarks: Migration = {
  name: 'notification-marks',
  async up(schema) {
    await createTable(
      schema,
      'notification_marks',
      {
        user_id: 'text not null',
        org_id: 'text not null',
        kind: 'text not null',
        name: 'text not null',
        at: 'number not null',
      },
      'primary key (user_id, kind, name)',
    );
    await createIndex(schema, 'notification_marks', 'org', 'org_id');
  },
};
