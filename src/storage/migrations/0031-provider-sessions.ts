import type { Migration } from '../migration.ts';

/** Session of an identity provider that a browser session belongs to, for single logout. */
export const providerSessions: Migration = {
  name: 'provider-sessions',
  async up(schema) {
    for (const column of ['provider_subject', 'provider_session'])
      await schema.run(`alter table sessions add column ${column} ${schema.text} not null default ''`);
  },
};
