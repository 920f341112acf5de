import { createIndex, createTable, type Migration } from '../migration.ts';

const numbered = { id: 'serial', body: 'text not null' };
const reference = 'number not null';

/** Default attributes of users that can be copied into the metadata of keys. */
const defaultAttributes = ['First', 'Last', 'Email', 'Role', 'Organisation', 'TeamNames'];

/** Audiences of catalogues, attributes of users, pages with content blocks, custom credentials of apps. */
export const portalPeople: Migration = {
  name: 'portal-people',
  async up(schema) {
    const table = (name: string, columns: Record<string, string>) =>
      createTable(schema, name, { ...numbered, ...columns });
    const unique = (name: string, label: string, columns: string) => createIndex(schema, name, label, columns, true);

    await table('portal_audiences', { catalogue_id: reference, team_id: reference });
    await unique('portal_audiences', 'team', 'catalogue_id, team_id');
    await createIndex(schema, 'portal_audiences', 'reverse', 'team_id');

    await table('portal_attribute_models', {});
    const Defaults = defaultAttributes.map((Label, place) => ({ ID: place + 1, Label, AddToKeyMetadata: false }));
    const model = { ID: 1, ModelName: 'User', Defaults, UpdatedAt: 0 };
    await schema.db
      .insertInto('portal_attribute_models')
      .values({ body: JSON.stringify(model) } as never)
      .execute();
    await table('portal_attributes', { model_id: reference, identifier: 'text not null' });
    await unique('portal_attributes', 'identifier', 'model_id, identifier');
    await table('portal_attribute_values', { user_id: reference, attribute_id: reference });
    await unique('portal_attribute_values', 'user', 'user_id, attribute_id');
    await createIndex(schema, 'portal_attribute_values', 'attribute', 'attribute_id');

    await table('portal_pages', { cid: 'text not null unique', path: 'text not null unique' });
    await table('portal_blocks', { cid: 'text not null unique', page_id: reference, name: 'text not null' });
    await unique('portal_blocks', 'name', 'page_id, name');

    await table('portal_custom_credentials', { app_id: reference, plan_id: reference, provider_id: reference });
    await createIndex(schema, 'portal_custom_credentials', 'app', 'app_id, id');
    await createIndex(schema, 'portal_custom_credentials', 'plan', 'plan_id');
    await createIndex(schema, 'portal_custom_credentials', 'provider', 'provider_id');
  },
};
