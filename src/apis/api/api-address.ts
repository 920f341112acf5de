import type { Settings } from '#base/settings.ts';
import { toModel } from './rules.ts';
import type { StoredApi } from './schema.ts';

/** Public base URL of the gateway at the moment of the call. */
export type ReadGatewayUrl = () => URL;

/** Public base URL of the gateway: the setting `gateway.url`, or host and port; of port 0 that of its open listener. */
export function gatewayUrl(settings: Settings, listener?: string): URL {
  const configured = URL.parse(settings['gateway.url']);
  if (configured) return configured;
  const host = settings['gateway.host'];
  const reachableHost = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const scheme = settings['gateway.tls.enabled'] ? 'https' : 'http';
  const port = settings['gateway.port'] || URL.parse(listener ?? '')?.port || 0;
  return new URL(`${scheme}://${reachableHost.includes(':') ? `[${reachableHost}]` : reachableHost}:${port}`);
}

/** Public address of an API: its own domain and port where it has them, the gateway's otherwise. */
export function buildApiAddress(api: StoredApi, gateway: URL) {
  const { listen, customDomain } = toModel(api);
  const { protocol, hostname, port, pathname } = gateway;
  const name = customDomain.enabled ? customDomain.name : hostname;
  const ownPort = listen.port > 0 ? String(listen.port) : port;
  const host = ownPort === '' ? name : `${name}:${ownPort}`;
  const path = listen.path.startsWith('/') ? listen.path : `/${listen.path}`;
  return { ApiURL: `${protocol}//${host}${pathname.replace(/\/$/, '')}${path}`, BasePath: path, Host: host };
}
