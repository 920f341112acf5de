import type { Settings } from '#base/settings.ts';

/** Cookies are `Secure` behind TLS, of a trusted proxy too. */
export const usesTls = (settings: Settings, isSecure: boolean): boolean =>
  isSecure || settings['dashboard.url'].startsWith('https:');

/** Base URL of the dashboard in browsers; never taken from a request, whose `Host` the client chooses. */
export const readDashboardUrl = (settings: Settings): string =>
  (settings['dashboard.url'] || `http://localhost:${settings['dashboard.port']}`).replace(/\/+$/, '');
