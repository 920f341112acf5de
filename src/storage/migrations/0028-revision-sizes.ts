import { createIndex, type Migration } from '../migration.ts';

/** Sizes of revisions, in an index that covers the sum of an organisation: no body is read for it. */
export const revisionSizes: Migration = {
  name: 'revision-sizes',
  async up(schema) {
    await schema.run('alter table revisions add column bytes bigint not null default 0');
    await schema.run('update revisions set bytes = length(body)');
    await createIndex(schema, 'revisions', 'size', 'org_id, at, id, bytes');
  },
};
