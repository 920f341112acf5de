import type { Settings } from '#base/settings.ts';
import { hasManagementTls } from '#operations/listener-tls.ts';

/** Cookies are `Secure` behind TLS, of a trusted proxy too. */
export const usesTls = (settings: Settings, isSecure: boolean): boolean =>
  isSecure || hasManagementTls(settings) || settings['dashboard.url'].startsWith('https:');

/** Base URL of the dashboard in browsers; never taken from a request, whose `Host` the client chooses. */
export function readDashboardUrl(settings: Settings): string {
  const scheme = hasManagementTls(settings) ? 'https' : 'http';
  return (settings['dashboard.url'] || `${scheme}://localhost:${settings['dashboard.port']}`).replace(/\/+$/, '');
}
