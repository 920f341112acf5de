import { createIndex, type Migration } from '../migration.ts';

/** Marks entries of changelogs whose subscribers are not all notified yet. */
export const portalAnnouncements: Migration = {
  name: 'portal-announcements',
  async up(schema) {
    await schema.run('alter table portal_changelog add column announcing bigint not null default 0');
    await createIndex(schema, 'portal_changelog', 'announcing', 'announcing, id');
  },
};
