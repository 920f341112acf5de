import type { Migration } from '../migration.ts';

/**
 * Marks a database that an earlier release wrote to: its definitions may hold secrets in plain text. The vault is not
 * open during migrations, so the start that follows seals them. A new database, which has no data key yet, needs no
 * mark.
 */
export const sealedDefinitions: Migration = {
  name: 'sealed-definitions',
  async up({ db }) {
    const dataKey = await db.selectFrom('meta').select('name').where('name', '=', 'data_key').executeTakeFirst();
    if (dataKey) await db.insertInto('meta').values({ name: 'apis.plain_secrets', value: 'rows' }).execute();
  },
};
