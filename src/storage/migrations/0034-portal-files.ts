import { createTable, type Migration } from '../migration.ts';

/** Files of the portal: images, documents and themes, one in each slot of an owner. */
export const portalFiles: Migration = {
  name: 'portal files',
  async up(schema) {
    const columns = {
      owner: 'text not null',
      slot: 'text not null',
      media_type: 'text not null',
      content: 'text not null',
      updated_at: 'number not null',
    };
    await createTable(schema, 'portal_files', columns, 'primary key (owner, slot)');
  },
};
