import { z } from 'zod';
import { createSortableId } from '#base/ids.ts';
import { operation } from '#operations/operation.ts';
import type { DecisionServices } from '../access-requests/decision.ts';
import { partnersOf } from '../join-table-store.ts';
import { mailActivation, mailSecurityChange, mailWelcome } from '../mails/account-mails.ts';
import { Team, toTeamView } from '../organisations/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { formatOptionalTime, lenientBool, okResponse, okStatus, portalId, portalSearchQuery } from '../shapes.ts';
import { portalMessages } from '../webhooks/notify.ts';
import { hashCheckedPassword, insertUser } from './creation.ts';
import { refuseLastAdministrator, resolveTeams, resolveUserOrganisation, restrictApps } from './membership.ts';
import { removePortalUser } from './removal.ts';
import {
  isPortalAdmin,
  PortalUserChange,
  PortalUserWrite,
  type StoredPortalUser,
  toUserRow,
  UserRow,
} from './schema.ts';
import { linkOrganisation, toSessionOwner } from './session-owner.ts';
import { checkSignInProvider, type SignInProviderServices } from './sign-in-provider.ts';

const declared = { surface: 'portal', noun: 'portal users', permission: 'secret' } as const;
type Services = Pick<PortalServices, 'portal'>;
type WriteServices = Pick<PortalServices, 'portal' | 'clock' | 'settings' | 'records'> & SignInProviderServices;

const User = UserRow.extend({
  CID: z.string(),
  JWTToken: z.string(),
  APITokenCreatedAt: z.string(),
  Organisation: z.string(),
  ResetPassword: z.boolean(),
  SecondFactor: z.boolean().describe('Signing in needs a code of an authenticator app'),
  Teams: z.array(Team),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

async function loadUserView(
  user: StoredPortalUser,
  { portal: { teams, organisations, factors } }: Services,
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
    SecondFactor: await factors.hasTotp(toSessionOwner(user.ID)),
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
  about: 'Lists the users of the portal, newest first; `q` is a part of name or address.',
  query: portalSearchQuery,
  returns: z.array(UserRow),
  async handle({ query }, { portal }: Services) {
    return (await portal.users.searchPage(query)).map(toUserRow);
  },
});

export const createPortalUser = operation({
  ...declared,
  name: 'createPortalUser',
  method: 'POST',
  path: '/portal-api/users',
  about: 'Creates a portal user, by default in the default organisation and its default team.',
  body: PortalUserWrite,
  returns: User,
  problems: [problem.user_exists, problem.bad_password],
  async handle({ body, audit }, services: WriteServices) {
    const { clock, settings, records } = services;
    await checkSignInProvider(body, undefined, services);
    const Role = body.Role ?? 'consumer-admin';
    const now = clock.now();
    const user = {
      CID: body.CID ?? createSortableId(now),
      Email: body.Email,
      First: body.First ?? '',
      Last: body.Last ?? '',
      Active: body.Active ?? true,
      Role,
      Provider: body.Provider ?? 'password',
      Password: await hashCheckedPassword(body.Password, settings),
      ResetPassword: body.ResetPassword ?? false,
      CreatedAt: now,
      UpdatedAt: now,
    };
    const created = await records.write(async () => {
      const place = { organisationId: body.OrganisationID, teams: body.Teams ?? [] };
      const inserted = await insertUser(user, place, services);
      await mailWelcome(inserted, services);
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

export const updatePortalUser = operation({
  ...declared,
  name: 'updatePortalUser',
  method: 'PUT',
  path: '/portal-api/users/{user_id}',
  about:
    'Updates a user of the portal. Teams replace the stored ones; omitted members do not change. Deactivation leaves ' +
    'the keys of its apps valid: they end with their credential, their app or the user.',
  params: z.object({ user_id: portalId }),
  body: PortalUserChange,
  returns: User,
  problems: [problem.unknown, problem.user_exists, problem.bad_password, problem.last_administrator],
  async handle({ params, body, audit }, services: WriteServices) {
    const { portal, settings } = services;
    const before = present(await portal.users.get(params.user_id), 'User', 'unknown');
    const { ID } = before;
    audit(String(ID));
    await checkSignInProvider(body, before, services);
    const password = await hashCheckedPassword(body.Password, settings);
    return loadUserView(await changeUser(ID, body, password, services), services);
  },
});

/** Changes a user with its memberships, and reports (de)activation, in one transaction. */
function changeUser(
  id: number,
  body: PortalUserChange,
  password: string,
  services: Pick<PortalServices, 'portal' | 'clock' | 'records' | 'settings'>,
): Promise<StoredPortalUser> {
  const { portal, clock, records } = services;
  return records.write(async () => {
    const before = present(await portal.users.lock(id), 'User', 'unknown');
    const Role = body.Role ?? before.Role;
    const Active = body.Active ?? before.Active;
    if (!Active || !isPortalAdmin(Role)) await refuseLastAdministrator(before, services);
    const OrganisationID = await resolveUserOrganisation(Role, body.OrganisationID ?? before.OrganisationID, services);
    const user = {
      ...before,
      Email: body.Email ?? before.Email,
      First: body.First ?? before.First,
      Last: body.Last ?? before.Last,
      Active,
      OrganisationID,
      Role,
      Provider: body.Provider ?? before.Provider,
      Password: password || before.Password,
      ResetPassword: body.ResetPassword ?? before.ResetPassword,
      UpdatedAt: clock.now(),
    };
    if (Active) delete user.AwaitsApproval;
    if (user.Provider !== 'password') Object.assign(user, { Password: '', ResetPassword: false });
    await portal.users.change(id, () => user);
    if (user.Provider !== before.Provider) {
      await portal.accountLinks.removeAll(linkOrganisation, toSessionOwner(id));
      await portal.factors.removeAll(toSessionOwner(id));
    }
    const isRevoked = user.Provider !== before.Provider || (user.ResetPassword && !before.ResetPassword);
    if (password || !Active || isRevoked) await portal.sessions.removeOthers(toSessionOwner(id));
    if (body.Teams || OrganisationID !== before.OrganisationID)
      await portal.teams.members.setLeftOf(id, await resolveTeams(body.Teams ?? [], OrganisationID, services));
    await restrictApps(id, OrganisationID, services);
    if (Active !== before.Active) {
      const message = portalMessages.user(user, await portal.attributes.listValues(id));
      await portal.notify(Active ? 'UserAccountActivated' : 'UserAccountDeactivated', message);
      await mailActivation(user, services);
    }
    if (password) await mailSecurityChange(before, 'An administrator set a new password', services);
    if (user.Email !== before.Email)
      await mailSecurityChange(before, 'An administrator changed the e-mail address', services);
    return user;
  });
}

export const deletePortalUser = operation({
  ...declared,
  name: 'deletePortalUser',
  method: 'DELETE',
  changesTraffic: true,
  path: '/portal-api/users/{user_id}',
  about: 'Deletes a user of the portal with its apps; their keys are refused at once.',
  params: z.object({ user_id: portalId }),
  query: z.object({ force: lenientBool.optional().describe('Proceeds if a provider is unavailable') }),
  returns: okResponse,
  problems: [problem.not_found, problem.last_administrator, problem.provider_unavailable, problem.provider_refused],
  async handle({ params, query, audit }, services: DecisionServices) {
    const user = present(await services.portal.users.get(params.user_id), 'User');
    audit(String(user.ID));
    await removePortalUser(user, services, { force: query.force });
    return okStatus;
  },
});

export const portalUserOperations = [
  listPortalUsers,
  createPortalUser,
  getPortalUser,
  updatePortalUser,
  deletePortalUser,
];
