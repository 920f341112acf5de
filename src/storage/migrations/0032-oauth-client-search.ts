import { createIndex, type Migration } from '../migration.ts';
import { toSearchText } from '../search-text.ts';

const rowsPerRead = 500;
const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** OAuth clients of an organisation are found by name and filtered by policy. */
export const oauthClientSearch: Migration = {
  name: 'oauth-client-search',
  async up(schema) {
    await schema.run("alter table oauth_clients add column policy_id text not null default ''");
    await createIndex(schema, 'oauth_clients', 'policy', 'org_id, policy_id');
    for (let last = ''; ; ) {
      const rows = await schema.db
        .selectFrom('oauth_clients')
        .select(['id', 'org_id', 'api_id', 'client_id', 'body'])
        .where('id', '>', last)
        .orderBy('id')
        .limit(rowsPerRead)
        .execute();
      for (const { id, org_id, api_id, client_id, body } of rows) {
        const { policy_id, client_name, description } = JSON.parse(body) as Readonly<Record<string, unknown>>;
        await schema.db
          .updateTable('oauth_clients')
          .set({ policy_id: toText(policy_id) })
          .where('id', '=', id)
          .execute();
        const text = toSearchText([client_id, toText(client_name), toText(description)]);
        const label = (toText(client_name) || client_id).slice(0, 500);
        await schema.db
          .insertInto('search_names')
          .values({ org_id, kind: 'oauth_clients', text, object: id, label, detail: api_id.slice(0, 500) })
          .execute();
      }
      if (rows.length < rowsPerRead) return;
      last = rows.at(-1)!.id;
    }
  },
};
