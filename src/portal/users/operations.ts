import { z } from 'zod';
import { createSortableId } from '#base/ids.ts';
import { findPasswordFaults, hashPassword } from '#base/passwords.ts';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { invalid } from '#operations/validation-error.ts';
import { oneOf } from '../join-table-store.ts';
import { defaultOrganisationId, shownTeam, Team } from '../organisations/schema.ts';
import type { PortalTools } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { pageQuery, portalId, type Reference, shownTime } from '../shapes.ts';
import { portalMessages } from '../webhooks/notify.ts';
import { isPortalAdmin, type StoredPortalUser, UserRow, UserWrite, userRow } from './schema.ts';

const declared = { surface: 'portal', noun: 'portal users', permission: 'secret' } as const;
type Tools = Pick<PortalTools, 'portal'>;

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

async function shown(
  user: StoredPortalUser,
  { portal: { teams, organisations } }: Tools,
): Promise<z.input<typeof User>> {
  const own = await teams.byIds(oneOf(await teams.members.holding([user.ID]), user.ID));
  const members = await teams.members.of([...own.keys()]);
  const organisation = user.OrganisationID === 0 ? undefined : await organisations.get(user.OrganisationID);
  return {
    ...userRow(user),
    CID: user.CID,
    // Nobody's token is shown: the portal's own is an installation secret.
    JWTToken: '',
    APITokenCreatedAt: '',
    Organisation: organisation?.Name ?? '',
    ResetPassword: user.ResetPassword,
    Teams: [...own.values()].map(team => shownTeam(team, oneOf(members, team.ID))),
    CreatedAt: shownTime(user.CreatedAt),
    UpdatedAt: shownTime(user.UpdatedAt),
  };
}

export const listPortalUsers = operation({
  ...declared,
  name: 'listPortalUsers',
  method: 'GET',
  path: '/portal-api/users',
  about: 'Lists the people who may sign in to the portal, newest first.',
  query: pageQuery,
  returns: z.array(UserRow),
  async handle({ query }, { portal }: Tools) {
    return (await portal.users.page(query)).map(userRow);
  },
});

async function passwordHash(password: string | undefined, settings: Settings): Promise<string> {
  if (!password) return '';
  const faults = findPasswordFaults(password, { minLength: settings['users.password_min_length'] });
  if (faults.length > 0)
    throw problem.bad_password({ detail: { faults: faults.map(fault => `Password: ${fault}`).join('; ') } });
  return hashPassword(password);
}

/** The teams of a new user: those named, all of the user's own organisation, or the one that holds everybody. */
async function teamsOf(named: readonly Reference[], organisationId: number, { portal: { teams } }: Tools) {
  if (organisationId === 0) return [];
  const own = await teams.ofOrganisation(organisationId);
  const chosen = named.map((it, place) => {
    const team = own.find(({ ID, CID, Name }) => it === ID || it === CID || it === Name);
    if (!team)
      throw invalid([{ path: `Teams[${place}]`, message: `there is no team ${it} in organisation ${organisationId}` }]);
    return team.ID;
  });
  return chosen.length > 0 ? chosen : own.filter(team => team.Default).map(team => team.ID);
}

export const createPortalUser = operation({
  ...declared,
  name: 'createPortalUser',
  method: 'POST',
  path: '/portal-api/users',
  about: 'Makes a user of the portal: in the default organisation and its default team unless told otherwise.',
  body: UserWrite,
  returns: User,
  problems: [problem.user_exists, problem.bad_password],
  async handle({ body, audit }, tools: Pick<PortalTools, 'portal' | 'clock' | 'settings' | 'records'>) {
    const { portal, clock, settings, records } = tools;
    const Role = body.Role ?? 'consumer-admin';
    const OrganisationID = isPortalAdmin(Role) ? 0 : body.OrganisationID || defaultOrganisationId;
    if (OrganisationID !== 0 && !(await portal.organisations.get(OrganisationID)))
      throw invalid([{ path: 'OrganisationID', message: `there is no organisation ${OrganisationID}` }]);
    const teams = await teamsOf(body.Teams ?? [], OrganisationID, tools);
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
      Password: await passwordHash(body.Password, settings),
      ResetPassword: body.ResetPassword ?? false,
      CreatedAt: now,
      UpdatedAt: now,
    };
    const made = await records.write(async () => {
      const inserted = await portal.users.insert(user);
      await portal.teams.members.setHolding(inserted.ID, teams);
      await portal.tell('UserRegistered', portalMessages.user(inserted));
      return inserted;
    });
    audit(String(made.ID));
    return shown(made, tools);
  },
});

export const getPortalUser = operation({
  ...declared,
  name: 'getPortalUser',
  method: 'GET',
  path: '/portal-api/users/{user_id}',
  about: 'Reads one user of the portal.',
  params: z.object({ user_id: portalId }),
  returns: User,
  problems: [problem.not_found],
  async handle({ params }, tools: Tools) {
    return shown(present(await tools.portal.users.get(params.user_id), 'User'), tools);
  },
});

export const portalUserOperations = [listPortalUsers, createPortalUser, getPortalUser];
