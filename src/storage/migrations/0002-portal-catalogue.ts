import { createIndex, createTable, type Migration } from '../migration.ts';

const numbered = { id: 'serial', body: 'text not null' };
const named = { ...numbered, cid: 'text not null unique' };
const reference = 'number not null';

/** Portal catalogue: products, plans, organisations, users, apps and their credentials. */
export const portalCatalogue: Migration = {
  name: 'portal catalogue',
  async up(schema) {
    const table = (name: string, columns: Record<string, string>, ...rest: string[]) =>
      createTable(schema, name, columns, ...rest);
    const index = (name: string, label: string, columns: string, unique = false) =>
      createIndex(schema, name, label, columns, unique);
    const pairs = async (name: string, left: string, right: string) => {
      await table(name, { [left]: reference, [right]: reference }, `primary key (${left}, ${right})`);
      await index(name, 'reverse', `${right}, ${left}`);
    };

    await table('portal_providers', { ...named, name: 'text not null' });

    const published = { ...named, provider_id: reference, reference_id: 'text not null', name: 'text not null' };
    await table('portal_products', { ...published, path: 'text not null unique' });
    await index('portal_products', 'provider', 'provider_id, reference_id');
    await index('portal_products', 'name', 'name');
    await table('portal_plans', published);
    await index('portal_plans', 'provider', 'provider_id, reference_id');
    await index('portal_plans', 'name', 'name');

    await table('portal_catalogues', { ...named, name: 'text not null', slug: 'text not null unique' });
    await index('portal_catalogues', 'name', 'name');
    await pairs('portal_catalogue_products', 'catalogue_id', 'product_id');
    await pairs('portal_catalogue_plans', 'catalogue_id', 'plan_id');

    await table('portal_organisations', { ...named, name: 'text not null' });
    await table('portal_teams', { ...named, organisation_id: reference, is_default: 'truth not null' });
    await index('portal_teams', 'organisation', 'organisation_id, id');
    await table('portal_users', { ...named, organisation_id: reference, email: 'text not null unique' });
    await index('portal_users', 'organisation', 'organisation_id, id');
    await pairs('portal_team_members', 'team_id', 'user_id');

    await table('portal_apps', { ...numbered, user_id: reference });
    await index('portal_apps', 'user', 'user_id, id');
    await table('portal_access_requests', {
      ...numbered,
      app_id: reference,
      user_id: reference,
      plan_id: reference,
      provider_id: reference,
      status: 'text not null',
      created_at: 'number not null',
      deleted_at: 'number not null',
    });
    await index('portal_access_requests', 'app', 'app_id, deleted_at, id');
    await index('portal_access_requests', 'allowance', 'user_id, plan_id, created_at');
    await index('portal_access_requests', 'plan', 'plan_id, deleted_at');
    await index('portal_access_requests', 'provider', 'provider_id, deleted_at');
    await index('portal_access_requests', 'live', 'deleted_at, id');
    await table('portal_credentials', { ...numbered, access_request_id: reference });
    await index('portal_credentials', 'request', 'access_request_id, id');
  },
};
