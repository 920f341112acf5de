import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import {
  numberedId,
  okMessage,
  okMessageResponse,
  okResponse,
  okStatus,
  portalId,
  portalPageQuery,
} from '../shapes.ts';
import { type InviteServices, inviteAddress, inviteUser, resendInvitation } from './invite.ts';
import { Invitation, InvitationWrite, SentInvitation, toInvitationView } from './schema.ts';

const declared = { surface: 'portal', noun: 'invitations', permission: 'secret' } as const;
const params = z.object({ invitation_id: numberedId });
const listPath = '/portal-api/invitations';
const invitationPath = `${listPath}/{invitation_id}`;
type Services = Pick<PortalServices, 'portal' | 'clock'>;

export const listInvitations = operation({
  ...declared,
  name: 'listInvitations',
  method: 'GET',
  path: listPath,
  about: 'Lists the open invitations, newest first; accepted ones are users.',
  query: portalPageQuery,
  returns: z.array(Invitation),
  async handle({ query }, { portal, clock }: Services) {
    return (await portal.invitations.page(query)).map(it => toInvitationView(it, clock.now()));
  },
});

export const createInvitation = operation({
  ...declared,
  name: 'createInvitation',
  method: 'POST',
  path: listPath,
  about:
    'Invites an address to the portal: its link, which is mailed, sets the password of the account with the role, ' +
    'organisation and teams of the invitation. An account without an organisation joins with it.',
  body: InvitationWrite,
  example: { Email: 'dana@example.org', First: 'Dana' },
  returns: SentInvitation,
  status: 201,
  problems: [problem.user_exists, problem.invitation_exists, problem.too_many_invitations],
  async handle({ body, audit }, services: InviteServices) {
    const { Email, First, Last, Role = 'consumer-team-member', OrganisationID, Teams = [] } = body;
    const given = { Email, First, Last, Role, organisationId: OrganisationID, teams: Teams, inviterId: 0 };
    const { invitation, url } = await inviteAddress(given, services);
    audit(String(invitation.ID));
    return { ...toInvitationView(invitation, services.clock.now()), InviteURL: url };
  },
});

export const getInvitation = operation({
  ...declared,
  name: 'getInvitation',
  method: 'GET',
  path: invitationPath,
  about: 'Returns an open invitation.',
  params,
  returns: Invitation,
  problems: [problem.not_found],
  async handle({ params: { invitation_id } }, { portal, clock }: Services) {
    return toInvitationView(present(await portal.invitations.get(invitation_id), 'Invitation'), clock.now());
  },
});

export const sendInvitationAgain = operation({
  ...declared,
  name: 'sendInvitationAgain',
  method: 'PUT',
  path: `${invitationPath}/resend`,
  about: 'Mails a new link; the former one ends.',
  params,
  returns: SentInvitation,
  problems: [problem.unknown],
  async handle({ params: { invitation_id }, audit }, services: InviteServices) {
    audit(String(invitation_id));
    const { invitation, url } = await resendInvitation(invitation_id, services);
    return { ...toInvitationView(invitation, services.clock.now()), InviteURL: url };
  },
});

export const deleteInvitation = operation({
  ...declared,
  name: 'deleteInvitation',
  method: 'DELETE',
  path: invitationPath,
  about: 'Cancels an invitation: its link ends.',
  params,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params: { invitation_id }, audit }, { portal }: Services) {
    audit(String(invitation_id));
    present((await portal.invitations.remove(invitation_id)) || undefined, 'Invitation');
    return okStatus;
  },
});

export const sendUserInvite = operation({
  ...declared,
  name: 'sendUserInvite',
  method: 'PUT',
  path: '/portal-api/users/{user_id}/send_invite',
  about: 'Mails a link to a user without a password: it sets one and activates the account. A former link ends.',
  params: z.object({ user_id: portalId }),
  returns: okMessageResponse.extend({ InviteURL: z.string() }),
  problems: [problem.unknown, problem.invitation_unneeded, problem.invitation_exists, problem.too_many_invitations],
  async handle({ params, audit }, services: InviteServices) {
    const { ID } = present(await services.portal.users.get(params.user_id), 'User', 'unknown');
    audit(String(ID));
    const { url } = await inviteUser(ID, services);
    return { ...okMessage('Send invite'), InviteURL: url };
  },
});

export const invitationOperations = [
  listInvitations,
  createInvitation,
  getInvitation,
  sendInvitationAgain,
  deleteInvitation,
  sendUserInvite,
];
