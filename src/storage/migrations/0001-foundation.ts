import { createIndex, createTable, type Migration, type Schema } from '../migration.ts';

const record = {
  id: 'text primary key',
  org_id: 'text not null',
  created_at: 'number not null',
  body: 'text not null',
};

export const foundation: Migration = {
  name: 'foundation',
  async up(schema) {
    const definitions = createDefinitions(schema);
    await createOrganisationTables(definitions);
    await createApiTables(definitions);
    await createPolicyTables(definitions);
    await createKeyTables(definitions);
    await createOtherTables(definitions);
  },
};

type Definitions = ReturnType<typeof createDefinitions>;

function createDefinitions(schema: Schema) {
  const index = (name: string, label: string, columns: string, unique = false) =>
    createIndex(schema, name, label, columns, unique);
  return {
    table: (name: string, columns: Record<string, string>, ...rest: string[]) =>
      createTable(schema, name, columns, ...rest),
    index,
    newestFirst: (name: string) => index(name, 'newest', 'org_id, created_at desc, id desc'),
  };
}

async function createOrganisationTables({ table, index, newestFirst }: Definitions): Promise<void> {
  await table('changes', { revision: 'number not null', topic: 'text not null', id: 'text not null' });
  await index('changes', 'revision', 'revision');

  await table('organisations', {
    id: 'text primary key',
    name: 'text not null',
    created_at: 'number not null',
    body: 'text not null',
  });
  await index('organisations', 'newest', 'created_at desc, id desc');

  await table('users', {
    ...record,
    email: 'text not null',
    access_digest: 'text not null unique',
    active: 'truth not null',
  });
  await index('users', 'email', 'org_id, email', true);
  await newestFirst('users');
}

async function createApiTables({ table, index, newestFirst }: Definitions): Promise<void> {
  await table('apis', {
    ...record,
    api_id: 'text not null unique',
    kind: 'text not null',
    name: 'text not null',
    name_fold: 'text not null',
    domain: 'text not null',
    listen_path: 'text not null',
    updated_at: 'number not null',
  });
  await newestFirst('apis');
  await index('apis', 'name', 'org_id, name_fold, id');
  await index('apis', 'path', 'listen_path, domain');
  await table(
    'api_categories',
    { org_id: 'text not null', category: 'text not null', api: 'text not null' },
    'primary key (org_id, category, api)',
  );
  await index('api_categories', 'api', 'api');
}

async function createPolicyTables({ table, index, newestFirst }: Definitions): Promise<void> {
  await table('policies', {
    ...record,
    policy_id: 'text not null',
    name: 'text not null',
    name_fold: 'text not null',
    state: 'text not null',
    auth_type: 'text not null',
  });
  await newestFirst('policies');
  await index('policies', 'public', 'org_id, policy_id', true);
  await index('policies', 'name', 'org_id, name', true);
  await index('policies', 'state', 'org_id, state, id');
  await index('policies', 'auth', 'org_id, auth_type, id');
  await index('policies', 'search', 'org_id, name_fold, policy_id, id');
  await table(
    'policy_apis',
    { org_id: 'text not null', api_id: 'text not null', policy: 'text not null' },
    'primary key (org_id, api_id, policy)',
  );
  await index('policy_apis', 'policy', 'policy');
}

async function createKeyTables({ table, index, newestFirst }: Definitions): Promise<void> {
  await table('keys', {
    ...record,
    digest: 'text not null unique',
    key_hash: 'text not null',
    kind: 'text not null',
    sealed: 'text not null',
  });
  await newestFirst('keys');
  await index('keys', 'hash', 'org_id, key_hash');
  await table(
    'key_apis',
    { org_id: 'text not null', api_id: 'text not null', key: 'text not null' },
    'primary key (org_id, api_id, key)',
  );
  await index('key_apis', 'key', 'key');
  await table(
    'key_policies',
    { org_id: 'text not null', policy_id: 'text not null', key: 'text not null' },
    'primary key (org_id, policy_id, key)',
  );
  await index('key_policies', 'key', 'key');
}

async function createOtherTables({ table, index, newestFirst }: Definitions): Promise<void> {
  await table('oauth_clients', { ...record, api_id: 'text not null', client_id: 'text not null' });
  await index('oauth_clients', 'client', 'api_id, client_id', true);
  await newestFirst('oauth_clients');

  await table('certificates', { ...record, has_private: 'truth not null', not_after: 'number not null' });
  await newestFirst('certificates');
  await index('certificates', 'private', 'org_id, has_private, created_at desc, id desc');

  await table('hooks', { ...record, webhook_id: 'text not null', name: 'text not null' });
  await newestFirst('hooks');
  await index('hooks', 'webhook', 'org_id, webhook_id', true);

  await table('audit', {
    id: 'serial',
    org_id: 'text not null',
    at: 'number not null',
    actor: 'text not null',
    action: 'text not null',
    method: 'text not null',
    url: 'text not null',
    status: 'number not null',
    ip: 'text not null',
    body: 'text not null',
  });
  await index('audit', 'newest', 'org_id, id desc');
  await index('audit', 'age', 'at');
}
