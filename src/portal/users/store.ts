import { sql } from 'kysely';
import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import { createPageSearch } from '../search-store.ts';
import { isPortalAdmin, type StoredPortalUser } from './schema.ts';

const dayMs = 86_400_000;
/** Newest users that a report counts: 50,000. */
const countedPageRows = 1000;
const maxCountedPages = 50;
/** Member of the stored JSON: inside of texts quotation marks are escaped, so that no text looks like it. */
const inactive = '%"Active":false%';

export type PortalUserStore = ReturnType<typeof createPortalUserStore>;

export function createPortalUserStore(records: Records) {
  const users = createNumberedStore<'portal_users', StoredPortalUser>(
    records,
    'portal_users',
    it => ({ cid: it.CID, organisation_id: it.OrganisationID, email: it.Email }),
    problem.user_exists,
  );
  return {
    ...users,
    searchPage: createPageSearch(records, 'portal_users', users, ({ Email, First, Last }) => [
      Email,
      `${First} ${Last}`,
    ]),
    findByEmail: (email: string) => users.rows.find({ email: email.toLowerCase() }),
    /** Inside a transaction: reads a user under a row lock. */
    lock: (id: number) => users.rows.lock({ id }),
    /** Inside a transaction: moves all users of an organisation to another. */
    moveAll: (from: number, to: number) =>
      users.changeAll(sql<boolean>`organisation_id = ${from}`, it => ({ ...it, OrganisationID: to })),
    /** Active administrators, who are in no organisation. */
    listAdministrators: async () =>
      (await users.all({ organisation_id: 0 })).filter(it => it.Active && isPortalAdmin(it.Role)),
    ofOrganisation: (organisationId: number) => users.all({ organisation_id: organisationId }),
    countInactive: () => users.rows.count({}, query => query.where(sql<boolean>`body like ${inactive}`)),
    /** Users by the day of their creation in UTC. Ids ascend with time: only the newest users are read. */
    async countByDay(sinceMs: number): Promise<Map<number, number>> {
      const totals = new Map<number, number>();
      for (let page = 1; page <= maxCountedPages; page++) {
        const batch = await users.page({ page, per_page: countedPageRows });
        for (const { CreatedAt } of batch.filter(it => it.CreatedAt >= sinceMs)) {
          const day = Math.floor(CreatedAt / dayMs);
          totals.set(day, (totals.get(day) ?? 0) + 1);
        }
        if (batch.length < countedPageRows || batch.at(-1)!.CreatedAt < sinceMs) break;
      }
      return totals;
    },
  };
}
