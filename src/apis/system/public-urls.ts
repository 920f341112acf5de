import type { Settings } from '#base/settings.ts';
import type { ListenerUrls } from '#operations/landing/first-steps.ts';
import { readDashboardUrl } from '#people/sessions/dashboard-url.ts';
import { gatewayUrl, type ReadGatewayUrl } from '../api/api-address.ts';
import type { GatewayUrl } from '../proxy/operations.ts';

/** Addresses of an installation as clients use them: configured, or those of the listeners of this process. */
export const listPublicUrls = (settings: Settings, urls: ListenerUrls): ListenerUrls => ({
  ...urls,
  ...(urls.dashboard && settings['dashboard.url'] ? { dashboard: readDashboardUrl(settings) } : {}),
  ...(settings['portal.url'] ? { portal: settings['portal.url'].replace(/\/+$/, '') } : {}),
  ...(settings['gateway.url'] || !urls.gateway ? { gateway: gatewayUrl(settings).href.replace(/\/+$/, '') } : {}),
});

/** Addresses as operations read them; a listener has one as soon as it is open. */
export const createUrlServices = (settings: Settings, urls: ListenerUrls) => {
  const readGatewayUrl: ReadGatewayUrl = () => gatewayUrl(settings, urls.gateway);
  const listGatewayUrls = (): readonly GatewayUrl[] => [
    { url: readGatewayUrl().href, isListener: false },
    ...(urls.gateway === undefined ? [] : [{ url: urls.gateway, isListener: true }]),
  ];
  const findPortalUrl = () => listPublicUrls(settings, urls).portal;
  return { readGatewayUrl, listGatewayUrls, findPortalUrl };
};
