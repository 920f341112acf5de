import type { StoredOrganisationRequest } from '../organisation-requests/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { readPortalUrl } from '../portal-url.ts';
import type { StoredPortalUser } from '../users/schema.ts';

type MailServices = Pick<PortalServices, 'portal' | 'settings'>;

/** Mail to the administrators about a request for an organisation. */
export const mailOrganisationRequest = (
  { Name, ID }: StoredOrganisationRequest,
  user: StoredPortalUser,
  { portal, settings }: MailServices,
): Promise<void> =>
  portal.sendMail.sendToAdministrators('organisation_request', user, {
    organisationName: Name,
    admin_url: `${readPortalUrl(settings)}/admin/organisation_requests/${ID}`,
  });

/** Mail to the developer about the decision. */
export async function mailOrganisationDecision(
  { Name: name, Status, Reason: reason }: StoredOrganisationRequest,
  user: StoredPortalUser,
  { portal, settings }: MailServices,
): Promise<void> {
  const base = readPortalUrl(settings);
  const [url, organisation_url] = [`${base}/portal/private/users`, `${base}/portal/private/organisation`];
  if (Status === 'approved') await portal.sendMail.send('organisation_approve', user, { name, url });
  else await portal.sendMail.send('organisation_reject', user, { name, reason, organisation_url });
}
