import type { Settings } from '#base/settings.ts';
import type { ListenerUrls } from '#operations/landing/first-steps.ts';
import { readDashboardUrl } from '#people/sessions/dashboard-url.ts';
import { gatewayUrl } from '../api/api-address.ts';

/** Addresses of an installation as clients use them: configured, or those of the listeners of this process. */
export const listPublicUrls = (settings: Settings, urls: ListenerUrls): ListenerUrls => ({
  ...urls,
  ...(urls.dashboard && settings['dashboard.url'] ? { dashboard: readDashboardUrl(settings) } : {}),
  ...(settings['gateway.url'] || !urls.gateway ? { gateway: gatewayUrl(settings).href.replace(/\/+$/, '') } : {}),
});
