import { createIndex, createTable, type Migration } from '../migration.ts';

/** Proposed entries of changelogs. */
export const portalChangelogProposals: Migration = {
  name: 'portal-changelog-proposals',
  async up(schema) {
    const columns = { id: 'serial', body: 'text not null', product_id: 'number not null' };
    await createTable(schema, 'portal_changelog_proposals', columns);
    await createIndex(schema, 'portal_changelog_proposals', 'product', 'product_id');
  },
};
