import { createIndex, createTable, type Migration } from '../migration.ts';

/** Write-ahead log of the calls of providers that the portal has to finish. */
export const portalProviderTasks: Migration = {
  name: 'portal-provider-tasks',
  async up(schema) {
    await createTable(schema, 'portal_provider_tasks', {
      id: 'serial',
      body: 'text not null',
      provider_id: 'number not null',
      credential_id: 'number not null',
      holder: 'text not null',
      due_at: 'number not null',
    });
    await createIndex(schema, 'portal_provider_tasks', 'due', 'due_at');
    await createIndex(schema, 'portal_provider_tasks', 'provider', 'provider_id');
    await createIndex(schema, 'portal_provider_tasks', 'credential', 'credential_id');
  },
};
