import type { Settings } from '#base/settings.ts';
import { hasManagementTls } from '#operations/listener-tls.ts';

/** Base URL of the portal in browsers; never taken from a request, whose `Host` the client chooses. */
export function readPortalUrl(settings: Settings): string {
  const scheme = hasManagementTls(settings) ? 'https' : 'http';
  return (settings['portal.url'] || `${scheme}://localhost:${settings['portal.port']}`).replace(/\/+$/, '');
}
