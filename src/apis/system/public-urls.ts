import type { Settings } from '#base/settings.ts';
import type { ListenerUrls } from '#operations/landing/first-steps.ts';
import { readDashboardUrl } from '#people/sessions/dashboard-url.ts';
import { gatewayUrl, type ReadGatewayUrl } from '../api/api-address.ts';
import type { GatewayUrl } from '../proxy/operations.ts';

/** Addresses of an installation as clients use them: configured, or those of the listeners of this process. */
export const listPublicUrls = (settings: Settings, urls: ListenerUrls): ListenerUrls => ({
  ...urls,
  ...(urls.dashboard && settings['dashboard.url'] ? { dashboard: readDashboardUrl(settings) } : {}),
  ...(settings['gateway.url'] || !urls.gateway ? { gateway: gatewayUrl(settings).href.replace(/\/+$/, '') } : {}),
});

/** Base URLs of the gateway, for services; the listener has one as soon as it is open. */
export const createGatewayUrls = (settings: Settings, urls: ListenerUrls) => {
  const readGatewayUrl: ReadGatewayUrl = () => gatewayUrl(settings, urls.gateway);
  const listGatewayUrls = (): readonly GatewayUrl[] => [
    { url: readGatewayUrl().href, isListener: false },
    ...(urls.gateway === undefined ? [] : [{ url: urls.gateway, isListener: true }]),
  ];
  return { readGatewayUrl, listGatewayUrls };
};
