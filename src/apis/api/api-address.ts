import type { Settings } from '#base/settings.ts';
import { toModel } from './rules.ts';
import type { StoredApi } from './schema.ts';

/** Public base URL of the gateway: the setting `gateway.url`, or built from its listener. */
export function gatewayUrl(settings: Settings): URL {
  const configured = URL.parse(settings['gateway.url']);
  if (configured) return configured;
  const host = settings['gateway.host'];
  const reachableHost = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const scheme = settings['gateway.tls.enabled'] ? 'https' : 'http';
  return new URL(
    `${scheme}://${reachableHost.includes(':') ? `[${reachableHost}]` : reachableHost}:${settings['gateway.port']}`,
  );
}

/** Public address of an API: its own domain and port where it has them, the gateway's otherwise. */
export function buildApiAddress(api: StoredApi, settings: Settings) {
  const { listen, customDomain } = toModel(api);
  const { protocol, hostname, port, pathname } = gatewayUrl(settings);
  const name = customDomain.enabled ? customDomain.name : hostname;
  const ownPort = listen.port > 0 ? String(listen.port) : port;
  const host = ownPort === '' ? name : `${name}:${ownPort}`;
  const path = listen.path.startsWith('/') ? listen.path : `/${listen.path}`;
  return { ApiURL: `${protocol}//${host}${pathname.replace(/\/$/, '')}${path}`, BasePath: path, Host: host };
}
