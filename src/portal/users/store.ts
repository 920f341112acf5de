import { sql } from 'kysely';
import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import type { StoredPortalUser } from './schema.ts';

export function createPortalUserStore(records: Records) {
  const users = createNumberedStore<'portal_users', StoredPortalUser>(
    records,
    'portal_users',
    it => ({ cid: it.CID, organisation_id: it.OrganisationID, email: it.Email }),
    problem.user_exists,
  );
  return {
    ...users,
    findByEmail: (email: string) => users.rows.find({ email: email.toLowerCase() }),
    /** Inside a transaction: reads a user under a row lock. */
    lock: (id: number) => users.rows.lock({ id }),
    /** Inside a transaction: moves all users of an organisation to another. */
    moveAll: (from: number, to: number) =>
      users.changeAll(sql<boolean>`organisation_id = ${from}`, it => ({ ...it, OrganisationID: to })),
    ofOrganisation: (organisationId: number) => users.all({ organisation_id: organisationId }),
  };
}
