import { type SqlBool, sql } from 'kysely';
import type { Query } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import type { StoredOrganisationRequest } from './schema.ts';

export function createOrganisationRequestStore(records: Records) {
  const requests = createNumberedStore<'portal_organisation_requests', StoredOrganisationRequest>(
    records,
    'portal_organisation_requests',
    it => ({ user_id: it.AdminID, name: it.Name, status: it.Status }),
  );
  const hasName = (name: string) => (query: Query) => query.where(sql<SqlBool>`lower(name) = lower(${name})`);
  return {
    ...requests,
    countOfUser: (userId: number) => requests.count({ user_id: userId, status: 'pending' }),
    ofUser: (userId: number) => requests.all({ user_id: userId }),
    countPendingNamed: (name: string) => requests.rows.count({ status: 'pending' }, hasName(name)),
    removeOfUser: (userId: number) => requests.rows.remove({ user_id: userId }),
    /** Organisations with this name, in any case. */
    async countOrganisations(name: string): Promise<number> {
      const statement = sql<{ total: number }>`select count(*) as total from portal_organisations
        where lower(name) = lower(${name})`;
      return Number((await statement.execute(records.db)).rows[0]!.total);
    },
  };
}
