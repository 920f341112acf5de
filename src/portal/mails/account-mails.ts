import { formatPortalTime } from '#base/clock.ts';
import type { PortalServices } from '../portal-stores.ts';
import { readPortalUrl } from '../portal-url.ts';
import { isPortalAdmin, type StoredPortalUser } from '../users/schema.ts';

type AccountMailServices = Pick<PortalServices, 'portal' | 'settings'>;

const toLoginUrl = ({ settings }: Pick<PortalServices, 'settings'>) => `${readPortalUrl(settings)}/auth/password/login`;

/** Mail to a new user. */
export const mailWelcome = (user: StoredPortalUser, services: AccountMailServices): Promise<void> =>
  services.portal.sendMail.send(isPortalAdmin(user.Role) ? 'welcome_admin' : 'welcome_dev', user, {
    login_url: toLoginUrl(services),
    active: user.Active,
  });

/** Mail to the administrators about a user who waits for activation. */
export async function mailWaiting(user: StoredPortalUser, services: AccountMailServices): Promise<void> {
  const { portal, settings } = services;
  const organisation = (await portal.organisations.get(user.OrganisationID))?.Name ?? '';
  const admin_url = `${readPortalUrl(settings)}/admin/users/${user.ID}`;
  await portal.sendMail.sendToAdministrators('newuser', user, { organisation, admin_url });
}

/** Mail about activation or deactivation. */
export async function mailActivation(
  user: StoredPortalUser,
  services: AccountMailServices,
  reason = '',
): Promise<void> {
  const { sendMail } = services.portal;
  const name = `${user.First} ${user.Last}`.trim();
  if (user.Active) await sendMail.send('activate', user, { name, login_url: toLoginUrl(services) });
  else await sendMail.send('deactivate', user, { name, reason });
}

/** Mail about a change that only the owner of the account should make. */
export const mailSecurityChange = (
  user: StoredPortalUser,
  what: string,
  services: AccountMailServices & Pick<PortalServices, 'clock'>,
  ip = '',
): Promise<void> =>
  services.portal.sendMail.send('security', user, {
    what,
    when: formatPortalTime(services.clock.now()),
    ip,
    help_url: `${readPortalUrl(services.settings)}/auth/password/new`,
  });
