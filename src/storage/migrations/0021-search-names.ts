import { createIndex, createTable, type Migration, type Schema } from '../migration.ts';
import { toSearchText } from '../search-text.ts';

const rowsPerRead = 500;

interface StoredRow {
  readonly id: string;
  readonly org_id: string;
  readonly body: string;
}

interface Entry {
  readonly names: readonly unknown[];
  readonly label: unknown;
  readonly detail?: unknown;
}

type Body = Readonly<Record<string, unknown>>;

/** Search index: the names of objects, folded, in one covering index. */
export const searchNames: Migration = {
  name: 'search-names',
  async up(schema) {
    await createTable(
      schema,
      'search_names',
      {
        org_id: 'text not null',
        kind: 'text not null',
        text: 'text not null',
        object: 'text not null',
        label: 'text not null',
        detail: 'text not null',
      },
      'primary key (org_id, kind, text, object)',
    );
    await createIndex(schema, 'search_names', 'object', 'kind, object');
    await indexKeys(schema);
    await indexTable(schema, 'certificates', 'certificates', ({ id, subjectCn, dnsNames, notAfter }) => ({
      names: [subjectCn, ...toList(dnsNames), id],
      label: subjectCn || id,
      detail: notAfter,
    }));
    await indexTable(schema, 'hooks', 'webhooks', ({ name, webhook_id, target_path }) => ({
      names: [name, webhook_id, toHost(target_path)],
      label: name || webhook_id,
      detail: toHost(target_path),
    }));
    await indexTable(schema, 'users', 'users', ({ email_address, first_name, last_name }) => ({
      names: [email_address, `${first_name} ${last_name}`],
      label: email_address,
      detail: `${first_name} ${last_name}`,
    }));
    await indexTable(schema, 'user_groups', 'user_groups', ({ name }) => ({ names: [name], label: name }));
    await indexTable(schema, 'assets', 'templates', ({ name, id }) => ({ names: [name, id], label: name, detail: id }));
    await indexTable(schema, 'identity_profiles', 'identity_profiles', ({ Name, ProviderName }) => ({
      names: [Name],
      label: Name,
      detail: ProviderName,
    }));
  },
};

const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const toText = (value: unknown): string => (typeof value === 'string' ? value : '');
const toHost = (url: unknown): string => URL.parse(toText(url))?.host ?? '';

async function addEntry(schema: Schema, kind: string, { id, org_id }: StoredRow, entry: Entry): Promise<void> {
  await schema.db
    .insertInto('search_names')
    .values({
      org_id,
      kind,
      text: toSearchText(entry.names.map(toText)),
      object: id,
      label: toText(entry.label).slice(0, 500),
      detail: toText(entry.detail).slice(0, 500),
    })
    .execute();
}

type IndexedTable = 'certificates' | 'hooks' | 'users' | 'user_groups' | 'assets' | 'identity_profiles';

async function indexTable(
  schema: Schema,
  table: IndexedTable,
  kind: string,
  toEntry: (body: Body) => Entry,
): Promise<void> {
  for (let last = ''; ; ) {
    const rows: StoredRow[] = await schema.db
      .selectFrom(table)
      .select(['id', 'org_id', 'body'])
      .where('id', '>', last)
      .orderBy('id')
      .limit(rowsPerRead)
      .execute();
    for (const row of rows) await addEntry(schema, kind, row, toEntry(JSON.parse(row.body) as Body));
    if (rows.length < rowsPerRead) return;
    last = rows.at(-1)!.id;
  }
}

/** Keys are found by alias, user name and hash; limits of organisations are no keys of a list. */
async function indexKeys(schema: Schema): Promise<void> {
  for (let last = ''; ; ) {
    const rows = await schema.db
      .selectFrom('keys')
      .select(['id', 'org_id', 'body', 'key_hash'])
      .where('id', '>', last)
      .where('kind', '!=', 'organisation')
      .orderBy('id')
      .limit(rowsPerRead)
      .execute();
    for (const row of rows) {
      const { alias, basic_auth_data } = JSON.parse(row.body) as Body & { basic_auth_data?: Body | null };
      const user = basic_auth_data?.user;
      const label = toText(alias) || toText(user);
      await addEntry(schema, 'keys', row, { names: [alias, user, row.key_hash], label, detail: row.key_hash });
    }
    if (rows.length < rowsPerRead) return;
    last = rows.at(-1)!.id;
  }
}
