import { sql } from 'kysely';
import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { createPageSearch } from '../search-store.ts';
import type { StoredApp } from './schema.ts';

export function createAppStore(records: Records) {
  const apps = createNumberedStore<'portal_apps', StoredApp>(records, 'portal_apps', it => ({ user_id: it.UserID }));
  return {
    ...apps,
    searchPage: createPageSearch(records, 'portal_apps', apps, ({ Name }) => [Name]),
    /** Inside a transaction: makes the apps of all users of an organisation personal. */
    makePersonal: (organisationId: number) =>
      apps.changeAll(
        sql<boolean>`user_id in (select id from portal_users where organisation_id = ${organisationId})`,
        it => ({ ...it, Visibility: 'personal' }),
      ),
    /** Apps of all users of an organisation, oldest first. */
    ofOrganisation: (organisationId: number) =>
      apps.rows.all({
        filter: query =>
          query.where(sql<boolean>`user_id in (select id from portal_users where organisation_id = ${organisationId})`),
        order: ['id'],
      }),
    countOfUser: (userId: number) => apps.rows.count({ user_id: userId }),
    ofUser: (userId: number) => apps.all({ user_id: userId }),
  };
}
