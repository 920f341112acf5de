import type { Migration } from '../migration.ts';

/**
 * Marks a database that an earlier release worked on: its definitions may hold secrets in plain text. No key is open while
 * migrations run, so the start that follows seals them. A new database, which has no data key yet, has nothing to seal.
 */
export const sealedDefinitions: Migration = {
  name: 'sealed-definitions',
  async up({ db }) {
    const dataKey = await db.selectFrom('meta').select('name').where('name', '=', 'data_key').executeTakeFirst();
    if (dataKey) await db.insertInto('meta').values({ name: 'apis.plain_secrets', value: 'rows' }).execute();
  },
};
