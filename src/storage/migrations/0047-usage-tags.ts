import { createIndex, createTable, type Migration } from '../migration.ts';

/** Usage by tag: the set of tags of each row, and the tags of each set; rows of earlier versions have none. */
export const usageTags: Migration = {
  name: 'usage-tags',
  async up(schema) {
    await schema.run(`alter table usage add column tag_set ${schema.text} not null default ''`);
    await createTable(
      schema,
      'usage_tags',
      {
        tag_set: 'text not null',
        tag: 'text not null',
        org_id: 'text not null',
        used_day: 'number not null',
      },
      'primary key (tag_set, tag)',
    );
    await createIndex(schema, 'usage_tags', 'tag', 'org_id, tag');
    await createIndex(schema, 'usage_tags', 'age', 'used_day');
  },
};
