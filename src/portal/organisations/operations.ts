import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { formatOptionalTime, okResponse, okStatus, portalId, portalSearchQuery } from '../shapes.ts';
import { resolveTeams } from '../users/membership.ts';
import { toUserRow } from '../users/schema.ts';
import { portalMessages } from '../webhooks/notify.ts';
import {
  defaultOrganisationId,
  PortalOrganisation,
  PortalOrganisationChange,
  PortalOrganisationItem,
  PortalOrganisationWrite,
  type StoredPortalOrganisation,
  toTeamRow,
} from './schema.ts';
import { noContents } from './store.ts';
import { lockRemovable } from './team-removal.ts';

const declared = { surface: 'portal', noun: 'organisations', permission: 'secret' } as const;
type Services = Pick<PortalServices, 'portal' | 'records'>;

async function loadOrganisationView(
  { ID, CID, Name, CreatedAt, UpdatedAt }: StoredPortalOrganisation,
  { portal }: Services,
) {
  return {
    ID,
    CID,
    Name,
    Teams: (await portal.teams.ofOrganisation(ID)).map(toTeamRow),
    Users: (await portal.users.ofOrganisation(ID)).map(toUserRow),
    CreatedAt: formatOptionalTime(CreatedAt),
    UpdatedAt: formatOptionalTime(UpdatedAt),
  };
}

export const listPortalOrganisations = operation({
  ...declared,
  name: 'listPortalOrganisations',
  method: 'GET',
  path: '/portal-api/organisations',
  about: 'Lists the organisations of app developers with numbers of teams, users and apps, newest first.',
  query: portalSearchQuery,
  returns: z.array(PortalOrganisationItem),
  async handle({ query }, { portal }: Services) {
    const page = await portal.organisations.searchPage(query);
    const counts = await portal.organisations.countContents(page.map(({ ID }) => ID));
    return page.map(({ ID, Name }) => ({ ID, Name, ...(counts.get(ID) ?? noContents) }));
  },
});

export const createPortalOrganisation = operation({
  ...declared,
  name: 'createPortalOrganisation',
  method: 'POST',
  path: '/portal-api/organisations',
  about: 'Creates an organisation with a default team of all its users.',
  body: PortalOrganisationWrite,
  returns: PortalOrganisation,
  problems: [problem.cid_taken],
  async handle({ body, audit }, services: Services) {
    const { portal, records } = services;
    const created = await records.write(async () => {
      const inserted = await portal.organisations.create(body.Name, body.CID);
      await portal.notify('OrganisationRegistered', portalMessages.organisation(inserted));
      return inserted;
    });
    audit(String(created.ID));
    return loadOrganisationView(created, services);
  },
});

export const getPortalOrganisation = operation({
  ...declared,
  name: 'getPortalOrganisation',
  method: 'GET',
  path: '/portal-api/organisations/{organisation_id}',
  about: 'Returns an organisation with its teams and users.',
  params: z.object({ organisation_id: portalId }),
  returns: PortalOrganisation,
  problems: [problem.not_found],
  async handle({ params }, services: Services) {
    return loadOrganisationView(
      present(await services.portal.organisations.get(params.organisation_id), 'Organisation'),
      services,
    );
  },
});

export const updatePortalOrganisation = operation({
  ...declared,
  name: 'updatePortalOrganisation',
  method: 'PUT',
  path: '/portal-api/organisations/{organisation_id}',
  about: 'Renames an organisation; the names of its teams do not change.',
  params: z.object({ organisation_id: portalId }),
  body: PortalOrganisationChange,
  returns: PortalOrganisation,
  problems: [problem.unknown],
  async handle({ params, body, audit }, services: Services & Pick<PortalServices, 'clock'>) {
    const { portal, clock } = services;
    const { ID } = present(await portal.organisations.get(params.organisation_id), 'Organisation', 'unknown');
    audit(String(ID));
    const changed = await portal.organisations.change(ID, it => ({
      ...it,
      Name: body.Name ?? it.Name,
      UpdatedAt: clock.now(),
    }));
    return loadOrganisationView(present(changed, 'Organisation', 'unknown'), services);
  },
});

export const deletePortalOrganisation = operation({
  ...declared,
  name: 'deletePortalOrganisation',
  method: 'DELETE',
  path: '/portal-api/organisations/{organisation_id}',
  about: 'Deletes an organisation with its teams. Its users move to the default organisation; their apps get personal.',
  params: z.object({ organisation_id: portalId }),
  returns: okResponse,
  problems: [problem.not_found, problem.default_organisation, problem.last_audience],
  async handle({ params, audit }, services: Services) {
    const { portal, records } = services;
    const { ID } = present(await portal.organisations.get(params.organisation_id), 'Organisation');
    audit(String(ID));
    if (ID === defaultOrganisationId) throw problem.default_organisation();
    await records.write(async () => {
      const lockTeams = async () => {
        present(await portal.organisations.lock(ID), 'Organisation');
        await portal.teams.lockOrganisation(ID);
      };
      await lockRemovable({ organisation: ID }, lockTeams, services);
      await moveUsers(ID, services);
      await portal.catalogues.audiences.removeTeams({ organisation: ID });
      for (const team of await portal.teams.ofOrganisation(ID)) await portal.inviteCodes.removeOfTeam(team.ID);
      await portal.invitations.removeOfOrganisation(ID);
      await portal.organisationCertificates.removeOfOrganisation(ID);
      await portal.teams.removeOrganisation(ID);
      await portal.organisations.remove(ID);
    });
    return okStatus;
  },
});

/** Moves the users of an organisation to the default team of the default organisation, where apps are personal. */
async function moveUsers(organisationId: number, services: Services): Promise<void> {
  const { portal } = services;
  const teams = await resolveTeams([], defaultOrganisationId, services);
  await portal.apps.makePersonal(organisationId);
  const moved = await portal.users.moveAll(organisationId, defaultOrganisationId);
  await portal.teams.members.setLeftOfAll(
    moved.map(({ ID }) => ID),
    teams,
  );
}

export const portalOrganisationOperations = [
  listPortalOrganisations,
  createPortalOrganisation,
  getPortalOrganisation,
  updatePortalOrganisation,
  deletePortalOrganisation,
];
