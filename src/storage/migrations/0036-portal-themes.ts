import { createIndex, createTable, type Migration } from '../migration.ts';

/** Themes of the portal; their archives are in `portal_files`. */
export const portalThemes: Migration = {
  name: 'portal-themes',
  async up(schema) {
    const columns = { id: 'serial', body: 'text not null', name: 'text not null unique', is_active: 'number not null' };
    await createTable(schema, 'portal_themes', columns);
    await createIndex(schema, 'portal_themes', 'active', 'is_active');
  },
};
