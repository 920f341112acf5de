import { createInvalidProblem } from '#operations/validation-error.ts';
import type { PortalServices } from '../portal-stores.ts';
import type { AudienceWrite, StoredAudience, StoredCatalogue } from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'clock'>;

/** Team of an audience under a row lock; without one, the default team of the organisation. */
async function lockTeam({ OrganisationID, TeamID }: AudienceWrite, { portal }: Services, prefix: string) {
  if (OrganisationID !== undefined && !(await portal.organisations.get(OrganisationID)))
    throw createInvalidProblem([
      { path: `${prefix}OrganisationID`, message: `there is no organisation ${OrganisationID}` },
    ]);
  const id = TeamID ?? (await portal.teams.findDefault(OrganisationID!))?.ID;
  const team = id === undefined ? undefined : await portal.teams.lock(id);
  if (!team || (OrganisationID !== undefined && team.OrganisationID !== OrganisationID)) {
    const place = OrganisationID === undefined ? '' : ` in organisation ${OrganisationID}`;
    throw createInvalidProblem([{ path: `${prefix}TeamID`, message: `there is no team ${id}${place}` }]);
  }
  return team;
}

/** Inside a transaction: adds a team to the audience of a catalogue. `prefix` is the path of the body's object. */
export async function addAudience(
  CatalogueID: number,
  audience: AudienceWrite,
  services: Services,
  prefix = '',
): Promise<StoredAudience> {
  const { ID: TeamID, OrganisationID } = await lockTeam(audience, services, prefix);
  const now = services.clock.now();
  const { audiences } = services.portal.catalogues;
  return audiences.insert({ CatalogueID, OrganisationID, TeamID, CreatedAt: now, UpdatedAt: now });
}

/** The audience of a catalogue with the names of teams and organisations. */
export async function nameAudiences({ ID, Name }: StoredCatalogue, { portal }: Services) {
  const audiences = await portal.catalogues.audiences.ofCatalogue(ID);
  const teams = await portal.teams.byIds(audiences.map(it => it.TeamID));
  const organisations = await portal.organisations.byIds(audiences.map(it => it.OrganisationID));
  return audiences.map(it => ({
    ID: it.ID,
    Name: teams.get(it.TeamID)?.Name ?? '',
    Catalogue: Name,
    Organisation: organisations.get(it.OrganisationID)?.Name ?? '',
  }));
}
