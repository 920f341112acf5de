import { createIndex, createTable, type Migration } from '../migration.ts';

/** OAuth clients that the portal registered at identity providers, and the tasks that change them. */
export const portalOauthClients: Migration = {
  name: 'portal-oauth-clients',
  async up(schema) {
    await createTable(schema, 'portal_oauth_clients', {
      id: 'serial',
      body: 'text not null',
      app_id: 'number not null',
      client_type_id: 'number not null',
    });
    await createIndex(schema, 'portal_oauth_clients', 'app', 'app_id, id');
    await createIndex(schema, 'portal_oauth_clients', 'type', 'client_type_id, id');
    await schema.run('alter table portal_provider_tasks add column oauth_client_id bigint not null default 0');
    await createIndex(schema, 'portal_provider_tasks', 'client', 'oauth_client_id');
  },
};
