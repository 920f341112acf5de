import type { Clock } from '#base/clock.ts';
import { createSortableId } from '#base/ids.ts';
import type { Records } from '#storage/records.ts';
import { pairsStore } from '../join-table-store.ts';
import { numberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import type { StoredOrganisation, StoredTeam } from './schema.ts';

export type TeamStore = ReturnType<typeof teamStore>;

export function teamStore(records: Records) {
  const teams = numberedStore<'portal_teams', StoredTeam>(
    records,
    'portal_teams',
    it => ({ cid: it.CID, organisation_id: it.OrganisationID, is_default: Number(it.Default) }),
    problem.cid_taken,
  );
  return {
    ...teams,
    members: pairsStore(records, 'portal_team_members', 'team_id'),
    ofOrganisation: (organisationId: number) => teams.all({ organisation_id: organisationId }),
    defaultOf: (organisationId: number) => teams.rows.find({ organisation_id: organisationId, is_default: 1 }),
  };
}

export function portalOrganisationStore(records: Records, teams: TeamStore, clock: Clock) {
  const organisations = numberedStore<'portal_organisations', StoredOrganisation>(
    records,
    'portal_organisations',
    it => ({ cid: it.CID, name: it.Name }),
    problem.cid_taken,
  );
  return {
    ...organisations,
    /** An organisation never exists without the team that holds everybody. */
    create: (name: string, cid?: string): Promise<StoredOrganisation> =>
      records.write(async () => {
        const now = clock.now();
        const times = { CreatedAt: now, UpdatedAt: now };
        const made = await organisations.insert({ CID: cid ?? createSortableId(now), Name: name, ...times });
        await teams.insert({
          CID: createSortableId(now),
          Name: `${name} All users`,
          Default: true,
          OrganisationID: made.ID,
          ...times,
        });
        return made;
      }),
  };
}
