import { z } from 'zod';
import { createSortableId } from '#base/ids.ts';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { partnersOf } from '../join-table-store.ts';
import type { PortalServices } from '../portal-stores.ts';
import { type Missing, present, problem } from '../problems.ts';
import { okResponse, okStatus, type PortalRef, portalId, portalPageQuery } from '../shapes.ts';
import { type StoredTeam, Team, TeamChange, TeamRow, TeamWrite, toTeamRow, toTeamView } from './schema.ts';
import { lockRemovable } from './team-removal.ts';

const declared = { surface: 'portal', noun: 'teams', permission: 'secret' } as const;
const ofOrganisation = z.object({ organisation_id: portalId });
const ofTeam = ofOrganisation.extend({ team_id: portalId });
const teamsPath = '/portal-api/organisations/{organisation_id}/teams';
const teamPath = `${teamsPath}/{team_id}`;
type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'>;

const requireOrganisation = async (ref: PortalRef, { portal }: Services, missing: Missing = 'not_found') =>
  present(await portal.organisations.get(ref), 'Organisation', missing);

/** A team of an organisation; one of another organisation is as good as none. */
async function requireTeam(
  { organisation_id, team_id }: z.output<typeof ofTeam>,
  services: Services,
  missing: Missing = 'not_found',
) {
  const { ID } = await requireOrganisation(organisation_id, services, missing);
  const team = await services.portal.teams.get(team_id);
  return present(team?.OrganisationID === ID ? team : undefined, 'Team', missing);
}

async function loadTeamView(team: StoredTeam, { portal }: Services) {
  return toTeamView(team, partnersOf(await portal.teams.members.rightOf([team.ID]), team.ID));
}

/**
 * Inside a transaction: replaces the users of a team, who must be of its organisation. Users left without a team get
 * the default one.
 */
async function setUsers({ ID, OrganisationID }: StoredTeam, users: readonly number[], { portal }: Services) {
  const { members } = portal.teams;
  const own = new Set((await portal.users.ofOrganisation(OrganisationID)).map(user => user.ID));
  const unknown = [...users.entries()].filter(([, id]) => !own.has(id));
  if (unknown.length > 0)
    throw createInvalidProblem(
      unknown.map(([place, id]) => ({
        path: `Users[${place}]`,
        message: `there is no user ${id} in organisation ${OrganisationID}`,
      })),
    );
  const before = partnersOf(await members.rightOf([ID]), ID);
  await members.setRightOf(ID, users);
  const chosen = new Set(users);
  await addToDefaultTeam(
    before.filter(id => !chosen.has(id)),
    OrganisationID,
    { portal },
  );
}

/** Adds users without a team to the default team of their organisation. */
async function addToDefaultTeam(
  users: readonly number[],
  organisationId: number,
  { portal }: Pick<PortalServices, 'portal'>,
): Promise<void> {
  const { teams } = portal;
  const teamsOf = await teams.members.leftOf(users);
  const without = users.filter(id => partnersOf(teamsOf, id).length === 0);
  const fallback = without.length > 0 ? await teams.findDefault(organisationId) : undefined;
  if (fallback) await teams.members.setLeftOfAll(without, [fallback.ID]);
}

export const listTeams = operation({
  ...declared,
  name: 'listTeams',
  method: 'GET',
  path: teamsPath,
  about: 'Lists the teams of an organisation, newest first.',
  params: ofOrganisation,
  query: portalPageQuery,
  returns: z.array(TeamRow),
  problems: [problem.not_found],
  async handle({ params, query }, services: Services) {
    const { ID } = await requireOrganisation(params.organisation_id, services);
    return (await services.portal.teams.page(query, { organisation_id: ID })).map(toTeamRow);
  },
});

export const createTeam = operation({
  ...declared,
  name: 'createTeam',
  method: 'POST',
  path: teamsPath,
  about: 'Creates a team of an organisation, with users of the organisation.',
  params: ofOrganisation,
  body: TeamWrite,
  returns: Team,
  problems: [problem.unknown, problem.cid_taken],
  async handle({ params, body, audit }, services: Services) {
    const { portal, records, clock } = services;
    const { ID: OrganisationID } = await requireOrganisation(params.organisation_id, services, 'unknown');
    const now = clock.now();
    const created = await records.write(async () => {
      present(await portal.organisations.lock(OrganisationID), 'Organisation', 'unknown');
      const team = await portal.teams.insert({
        CID: body.CID ?? createSortableId(now),
        Name: body.Name,
        Default: false,
        OrganisationID,
        CreatedAt: now,
        UpdatedAt: now,
      });
      await setUsers(team, body.Users ?? [], services);
      return team;
    });
    audit(String(created.ID));
    return loadTeamView(created, services);
  },
});

export const getTeam = operation({
  ...declared,
  name: 'getTeam',
  method: 'GET',
  path: teamPath,
  about: 'Returns a team with its users.',
  params: ofTeam,
  returns: Team,
  problems: [problem.not_found],
  async handle({ params }, services: Services) {
    return loadTeamView(await requireTeam(params, services), services);
  },
});

export const updateTeam = operation({
  ...declared,
  name: 'updateTeam',
  method: 'PUT',
  path: teamPath,
  about: 'Updates a team. Users replace the stored ones; a user without another team gets the default team.',
  params: ofTeam,
  body: TeamChange,
  returns: Team,
  problems: [problem.unknown],
  async handle({ params, body, audit }, services: Services) {
    const { portal, records, clock } = services;
    const { ID } = await requireTeam(params, services, 'unknown');
    audit(String(ID));
    const changed = await records.write(async () => {
      const team = await portal.teams.change(ID, it => ({
        ...it,
        Name: body.Name ?? it.Name,
        UpdatedAt: clock.now(),
      }));
      if (team && body.Users !== undefined) await setUsers(team, body.Users ?? [], services);
      return team;
    });
    return loadTeamView(present(changed, 'Team', 'unknown'), services);
  },
});

export const deleteTeam = operation({
  ...declared,
  name: 'deleteTeam',
  method: 'DELETE',
  path: teamPath,
  about: 'Deletes a team; its users without another team get the default team.',
  params: ofTeam,
  returns: okResponse,
  problems: [problem.not_found, problem.default_team, problem.last_audience],
  async handle({ params, audit }, services: Services) {
    const { portal, records } = services;
    const { ID, Default } = await requireTeam(params, services);
    audit(String(ID));
    if (Default) throw problem.default_team();
    await records.write(async () => {
      const locked = await lockRemovable({ team: ID }, () => portal.teams.lock(ID), services);
      await setUsers(present(locked, 'Team'), [], services);
      await portal.catalogues.audiences.removeTeams({ team: ID });
      await portal.inviteCodes.removeOfTeam(ID);
      await portal.teams.remove(ID);
    });
    return okStatus;
  },
});

export const teamOperations = [listTeams, createTeam, getTeam, updateTeam, deleteTeam];
