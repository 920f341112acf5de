import { formatPortalTime } from '#base/clock.ts';
import type { InvitedRole, StoredInvitation } from '../invitations/schema.ts';
import { defaultOrganisationId } from '../organisations/schema.ts';
import type { PortalServices } from '../portal-stores.ts';

const roleWords: Readonly<Record<InvitedRole, string>> = {
  'provider-admin': 'administrator of the portal',
  'consumer-admin': 'administrator of the organisation',
  'consumer-team-member': 'developer',
};

/** Mail with the link of an invitation. It names the organisation; the default one is the portal itself. */
export async function mailInvitation(
  invitation: StoredInvitation,
  invite_url: string,
  { portal, settings }: Pick<PortalServices, 'portal' | 'settings'>,
): Promise<void> {
  if (!portal.sendMail.isConfigured) return;
  const { OrganisationID, InviterID, Role } = invitation;
  const organisation =
    OrganisationID > defaultOrganisationId ? await portal.organisations.get(OrganisationID) : undefined;
  const inviter = InviterID === 0 ? undefined : await portal.users.get(InviterID);
  const site = settings['portal.name'];
  await portal.sendMail.send('targeted_invite', invitation, {
    invite_url,
    team: organisation?.Name ?? site,
    role: roleWords[Role],
    inviter: inviter ? `${inviter.First} ${inviter.Last}`.trim() || inviter.Email : site,
    expires: formatPortalTime(invitation.ExpiresAt),
  });
}
