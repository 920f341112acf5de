import { z } from 'zod';
import { createSortableId } from '#base/ids.ts';
import { findPasswordFaults, hashPassword } from '#base/passwords.ts';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { partnersOf } from '../join-table-store.ts';
import { defaultOrganisationId, Team, toTeamView } from '../organisations/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { formatOptionalTime, portalId, portalPageQuery, type Reference } from '../shapes.ts';
import { portalMessages } from '../webhooks/notify.ts';
import { isPortalAdmin, PortalUserWrite, type StoredPortalUser, toUserRow, UserRow } from './schema.ts';

const declared = { surface: 'portal', noun: 'portal users', permission: 'secret' } as const;
type Services = Pick<PortalServices, 'portal'>;

const User = UserRow.extend({
  CID: z.string(),
  JWTToken: z.string(),
  APITokenCreatedAt: z.string(),
  Organisation: z.string(),
  ResetPassword: z.boolean(),
  Teams: z.array(Team),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

async function loadUserView(
  user: StoredPortalUser,
  { portal: { teams, organisations } }: Services,
): Promise<z.input<typeof User>> {
  const teamsOfUser = await teams.byIds(partnersOf(await teams.members.leftOf([user.ID]), user.ID));
  const members = await teams.members.rightOf([...teamsOfUser.keys()]);
  const organisation = user.OrganisationID === 0 ? undefined : await organisations.get(user.OrganisationID);
  return {
    ...toUserRow(user),
    CID: user.CID,
    // No token is returned: the portal API token is an installation secret.
    JWTToken: '',
    APITokenCreatedAt: '',
    Organisation: organisation?.Name ?? '',
    ResetPassword: user.ResetPassword,
    Teams: [...teamsOfUser.values()].map(team => toTeamView(team, partnersOf(members, team.ID))),
    CreatedAt: formatOptionalTime(user.CreatedAt),
    UpdatedAt: formatOptionalTime(user.UpdatedAt),
  };
}

export const listPortalUsers = operation({
  ...declared,
  name: 'listPortalUsers',
  method: 'GET',
  path: '/portal-api/users',
  about: 'Lists the users of the portal, newest first.',
  query: portalPageQuery,
  returns: z.array(UserRow),
  async handle({ query }, { portal }: Services) {
    return (await portal.users.page(query)).map(toUserRow);
  },
});

async function hashCheckedPassword(password: string | undefined, settings: Settings): Promise<string> {
  if (!password) return '';
  const faults = findPasswordFaults(password, { minLength: settings['users.password_min_length'] });
  if (faults.length > 0)
    throw problem.bad_password({ detail: { faults: faults.map(fault => `Password: ${fault}`).join('; ') } });
  return hashPassword(password);
}

/** Teams of a new user: those named, which must be of the user's organisation, or its default team. */
async function resolveTeams(references: readonly Reference[], organisationId: number, { portal: { teams } }: Services) {
  if (organisationId === 0) return [];
  const own = await teams.ofOrganisation(organisationId);
  const chosen = references.map((it, place) => {
    const team = own.find(({ ID, CID, Name }) => it === ID || it === CID || it === Name);
    if (!team)
      throw createInvalidProblem([
        { path: `Teams[${place}]`, message: `there is no team ${it} in organisation ${organisationId}` },
      ]);
    return team.ID;
  });
  return chosen.length > 0 ? chosen : own.filter(team => team.Default).map(team => team.ID);
}

export const createPortalUser = operation({
  ...declared,
  name: 'createPortalUser',
  method: 'POST',
  path: '/portal-api/users',
  about: 'Creates a portal user, by default in the default organisation and its default team.',
  body: PortalUserWrite,
  returns: User,
  problems: [problem.user_exists, problem.bad_password],
  async handle({ body, audit }, services: Pick<PortalServices, 'portal' | 'clock' | 'settings' | 'records'>) {
    const { portal, clock, settings, records } = services;
    const Role = body.Role ?? 'consumer-admin';
    const OrganisationID = isPortalAdmin(Role) ? 0 : body.OrganisationID || defaultOrganisationId;
    if (OrganisationID !== 0 && !(await portal.organisations.get(OrganisationID)))
      throw createInvalidProblem([{ path: 'OrganisationID', message: `there is no organisation ${OrganisationID}` }]);
    const teams = await resolveTeams(body.Teams ?? [], OrganisationID, services);
    const now = clock.now();
    const user = {
      CID: body.CID ?? createSortableId(now),
      Email: body.Email,
      First: body.First ?? '',
      Last: body.Last ?? '',
      Active: body.Active ?? true,
      OrganisationID,
      Role,
      Provider: body.Provider ?? 'password',
      Password: await hashCheckedPassword(body.Password, settings),
      ResetPassword: body.ResetPassword ?? false,
      CreatedAt: now,
      UpdatedAt: now,
    };
    const created = await records.write(async () => {
      const inserted = await portal.users.insert(user);
      await portal.teams.members.setLeftOf(inserted.ID, teams);
      await portal.notify('UserRegistered', portalMessages.user(inserted));
      return inserted;
    });
    audit(String(created.ID));
    return loadUserView(created, services);
  },
});

export const getPortalUser = operation({
  ...declared,
  name: 'getPortalUser',
  method: 'GET',
  path: '/portal-api/users/{user_id}',
  about: 'Returns a user of the portal.',
  params: z.object({ user_id: portalId }),
  returns: User,
  problems: [problem.not_found],
  async handle({ params }, services: Services) {
    return loadUserView(present(await services.portal.users.get(params.user_id), 'User'), services);
  },
});

export const portalUserOperations = [listPortalUsers, createPortalUser, getPortalUser];
