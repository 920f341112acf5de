import type { Settings } from '#base/settings.ts';
import { hasManagementTls } from '#operations/listener-tls.ts';

/** Page of the sign-up, and of the links of invitations. */
export const registrationPath = '/auth/password/register';

/** Base URL of the portal in browsers; never taken from a request, whose `Host` the client chooses. */
export function readPortalUrl(settings: Settings): string {
  const scheme = hasManagementTls(settings) ? 'https' : 'http';
  return (settings['portal.url'] || `${scheme}://localhost:${settings['portal.port']}`).replace(/\/+$/, '');
}
