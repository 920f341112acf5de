import { createIndex, createTable, type Migration } from '../migration.ts';

const rowsPerRead = 500;

/** User groups, and the column by which the users of a group are found. */
export const userGroups: Migration = {
  name: 'user-groups',
  async up(schema) {
    await createTable(schema, 'user_groups', {
      id: 'text primary key',
      org_id: 'text not null',
      name: 'text not null',
      created_at: 'number not null',
      body: 'text not null',
    });
    await createIndex(schema, 'user_groups', 'org', 'org_id, created_at');
    await schema.run(`alter table users add column group_id ${schema.text} not null default ''`);
    await createIndex(schema, 'users', 'group', 'org_id, group_id');
    let last = '';
    for (;;) {
      const rows = await schema.db
        .selectFrom('users')
        .select(['id', 'body'])
        .where('id', '>', last)
        .orderBy('id')
        .limit(rowsPerRead)
        .execute();
      for (const { id, body } of rows) {
        const { group_id = '' } = JSON.parse(body) as { group_id?: string };
        if (group_id) await schema.db.updateTable('users').set({ group_id }).where('id', '=', id).execute();
      }
      if (rows.length < rowsPerRead) return;
      last = rows.at(-1)!.id;
    }
  },
};
