import type { Settings } from '#base/settings.ts';

/** Base URL of the dashboard in browsers; never taken from a request, whose `Host` the client chooses. */
export const readDashboardUrl = (settings: Settings): string =>
  (settings['dashboard.url'] || `http://localhost:${settings['dashboard.port']}`).replace(/\/+$/, '');
