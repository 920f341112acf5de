import { type RawBuilder, sql } from 'kysely';
import type { Clock } from '#base/clock.ts';
import { createSortableId } from '#base/ids.ts';
import type { Records } from '#storage/records.ts';
import { createJoinTableStore } from '../join-table-store.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import { createPageSearch } from '../search-store.ts';
import type { StoredPortalOrganisation, StoredTeam } from './schema.ts';

export type TeamStore = ReturnType<typeof createTeamStore>;

export function createTeamStore(records: Records) {
  const teams = createNumberedStore<'portal_teams', StoredTeam>(
    records,
    'portal_teams',
    it => ({ cid: it.CID, organisation_id: it.OrganisationID, is_default: Number(it.Default) }),
    problem.cid_taken,
  );
  return {
    ...teams,
    /** Inside a transaction: reads a team under a row lock. */
    lock: (id: number) => teams.rows.lock({ id }),
    members: createJoinTableStore(records, 'portal_team_members', 'team_id'),
    ofOrganisation: (organisationId: number) => teams.all({ organisation_id: organisationId }),
    /** Inside a transaction: locks all teams of an organisation, by an update that changes nothing. */
    lockOrganisation: (organisationId: number) =>
      records.db
        .updateTable('portal_teams')
        .set({ organisation_id: sql<number>`organisation_id` })
        .where('organisation_id', '=', organisationId)
        .execute(),
    removeOrganisation: (organisationId: number) => teams.rows.remove({ organisation_id: organisationId }),
    findDefault: (organisationId: number) => teams.rows.find({ organisation_id: organisationId, is_default: 1 }),
  };
}

interface OrganisationCounts {
  readonly TeamCount: number;
  readonly UserCount: number;
  readonly AppCount: number;
}
export const noContents: OrganisationCounts = { TeamCount: 0, UserCount: 0, AppCount: 0 };

/** Rows of each kind; `o.organisation_id` is the organisation of one. */
const countedRows = [
  ['TeamCount', sql`portal_teams o`],
  ['UserCount', sql`portal_users o`],
  ['AppCount', sql`portal_apps a join portal_users o on o.id = a.user_id`],
] as const;

async function readCounts(records: Records, from: RawBuilder<unknown>, ids: readonly number[]) {
  if (ids.length === 0) return [];
  const query = sql<{ id: number; total: number }>`select o.organisation_id as id, count(*) as total from ${from}
    where o.organisation_id in (${sql.join(ids)}) group by o.organisation_id`;
  return (await query.execute(records.db)).rows;
}

export function createPortalOrganisationStore(records: Records, teams: TeamStore, clock: Clock) {
  const organisations = createNumberedStore<'portal_organisations', StoredPortalOrganisation>(
    records,
    'portal_organisations',
    it => ({ cid: it.CID, name: it.Name }),
    problem.cid_taken,
  );
  return {
    ...organisations,
    searchPage: createPageSearch(records, 'portal_organisations', organisations, ({ Name }) => [Name]),
    /** Numbers of teams, users and their apps by organisation; those without any are not in it. */
    async countContents(ids: readonly number[]): Promise<ReadonlyMap<number, OrganisationCounts>> {
      const counts = new Map<number, OrganisationCounts>();
      for (const [member, from] of countedRows) {
        const rows = await readCounts(records, from, ids);
        for (const { id, total } of rows)
          counts.set(Number(id), { ...(counts.get(Number(id)) ?? noContents), [member]: Number(total) });
      }
      return counts;
    },
    /** Inside a transaction: reads an organisation under a row lock. */
    lock: (id: number) => organisations.rows.lock({ id }),
    /** Creates an organisation with its default team, in one transaction. */
    create: (name: string, cid?: string): Promise<StoredPortalOrganisation> =>
      records.write(async () => {
        const now = clock.now();
        const times = { CreatedAt: now, UpdatedAt: now };
        const created = await organisations.insert({ CID: cid ?? createSortableId(now), Name: name, ...times });
        await teams.insert({
          CID: createSortableId(now),
          Name: `${name} All users`,
          Default: true,
          OrganisationID: created.ID,
          ...times,
        });
        return created;
      }),
  };
}
