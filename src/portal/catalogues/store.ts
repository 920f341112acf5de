import { type RawBuilder, sql } from 'kysely';
import type { Records } from '#storage/records.ts';
import { createJoinTableStore } from '../join-table-store.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import { createPageSearch } from '../search-store.ts';
import type { StoredAudience, StoredCatalogue } from './schema.ts';

/** A team, or all teams of an organisation. */
export type TeamSet = { readonly team: number } | { readonly organisation: number };
const isOneOf = (teams: TeamSet): RawBuilder<boolean> =>
  'team' in teams
    ? sql<boolean>`team_id = ${teams.team}`
    : sql<boolean>`team_id in (select id from portal_teams where organisation_id = ${teams.organisation})`;

export function createCatalogueStore(records: Records) {
  const catalogues = createNumberedStore<'portal_catalogues', StoredCatalogue>(
    records,
    'portal_catalogues',
    it => ({ cid: it.CID, name: it.Name, slug: it.NameWithSlug }),
    problem.catalogue_exists,
  );
  const plans = createJoinTableStore(records, 'portal_catalogue_plans', 'catalogue_id');
  const products = createJoinTableStore(records, 'portal_catalogue_products', 'catalogue_id');
  const audiences = createNumberedStore<'portal_audiences', StoredAudience>(
    records,
    'portal_audiences',
    it => ({ catalogue_id: it.CatalogueID, team_id: it.TeamID }),
    problem.audience_exists,
  );
  return {
    ...catalogues,
    searchPage: createPageSearch(records, 'portal_catalogues', catalogues, ({ Name }) => [Name]),
    plans,
    products,
    audiences: {
      ...audiences,
      ofCatalogue: (catalogueId: number) => audiences.all({ catalogue_id: catalogueId }),
      /** Ids of the teams in the audience of each catalogue that has one. */
      async readTeamIds(): Promise<Map<number, number[]>> {
        const teamIds = new Map<number, number[]>();
        const rows = await records.db.selectFrom('portal_audiences').select(['catalogue_id', 'team_id']).execute();
        for (const { catalogue_id, team_id } of rows)
          teamIds.set(Number(catalogue_id), [...(teamIds.get(Number(catalogue_id)) ?? []), Number(team_id)]);
        return teamIds;
      },
      removeTeams: (teams: TeamSet) => records.db.deleteFrom('portal_audiences').where(isOneOf(teams)).execute(),
      /** Ids of the catalogues with one of the teams in their audience. */
      async findCatalogues(teams: TeamSet): Promise<number[]> {
        const query = records.db.selectFrom('portal_audiences').select('catalogue_id').distinct();
        const found = await query.where(isOneOf(teams)).orderBy('catalogue_id').execute();
        return found.map(it => it.catalogue_id);
      },
      /** Ids of those of them that have other teams in their audience too. */
      async findSharing(teams: TeamSet): Promise<Set<number>> {
        const own = records.db.selectFrom('portal_audiences').select('catalogue_id').where(isOneOf(teams));
        const query = records.db.selectFrom('portal_audiences').select('catalogue_id').distinct();
        const found = await query
          .where('catalogue_id', 'in', own)
          .where(({ not }) => not(isOneOf(teams)))
          .execute();
        return new Set(found.map(it => it.catalogue_id));
      },
    },
    /** Inside a transaction: reads a catalogue under a row lock. */
    lock: (id: number) => catalogues.rows.lock({ id }),
    remove: (id: number) =>
      records.write(async () => {
        await plans.setRightOf(id, []);
        await products.setRightOf(id, []);
        await audiences.rows.remove({ catalogue_id: id });
        return catalogues.remove(id);
      }),
  };
}
