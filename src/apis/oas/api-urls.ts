import { z } from 'zod';
import type { Model } from '#definition/model.ts';
import { toModel } from '../api/rules.ts';
import type { StoredApi } from '../api/schema.ts';

const namedValue = z.object({ name: z.string(), value: z.string() });

export const ApiUrl = z.object({
  protocol: z.string(),
  domain: z.string(),
  port: z.int().nullable().describe('null for the default port of the protocol'),
  listen_path: z.string(),
  endpoint_path: z.string(),
  query_parameters: z.array(namedValue),
  headers: z.array(namedValue),
  url: z.string(),
});
export type ApiUrl = z.output<typeof ApiUrl>;

/**
 * Addresses of an API. A base has the one that names its version and the fallback without one; a version has the one
 * below its base and, unless it is internal, its own.
 */
export function buildApiUrls(api: StoredApi, base: StoredApi | undefined, gateway: URL): ApiUrl[] {
  const model = toModel(api);
  const own = isReachable(model) ? [toApiUrl(model, gateway)] : [];
  const lead = base ? toModel(base) : model;
  const name = base ? findVersionName(lead, api.api_id) : model.versioning.name;
  if (!lead.versioning.enabled || !name || !isReachable(lead)) return own;
  if (!base && Object.keys(lead.versioning.versions).length === 0) return own;
  return [withVersionName(toApiUrl(lead, gateway), lead, name), ...own];
}

const findVersionName = ({ versioning }: Model, apiId: string) =>
  Object.keys(versioning.versions).find(name => versioning.versions[name] === apiId);

/** Raw TCP and TLS services have no URL; internal APIs and versions without a listen path are not reached directly. */
const isReachable = ({ identity, listen }: Model) =>
  !identity.internal && listen.path !== '' && listen.protocol !== 'tcp' && listen.protocol !== 'tls';

function toApiUrl({ listen, customDomain }: Model, gateway: URL): ApiUrl {
  const domain = customDomain.enabled ? customDomain.name : gateway.hostname;
  const ownPort = listen.port > 0 ? listen.port : Number(gateway.port);
  const port = ownPort === 0 || isDefaultPort(gateway.protocol, ownPort) ? null : ownPort;
  const protocol = gateway.protocol.slice(0, -1);
  const listen_path = trimSlashes(`${gateway.pathname}/${listen.path}`);
  const whole = `${protocol}://${domain}${port === null ? '' : `:${port}`}/${listen_path}`;
  return { protocol, domain, port, listen_path, endpoint_path: '', query_parameters: [], headers: [], url: whole };
}

const isDefaultPort = (protocol: string, port: number) => port === (protocol === 'https:' ? 443 : 80);
const trimSlashes = (path: string) => path.split('/').filter(Boolean).join('/');

function withVersionName(address: ApiUrl, { versioning }: Model, name: string): ApiUrl {
  const named = { name: versioning.key || 'x-api-version', value: name };
  if (versioning.location === 'url') {
    const url = `${address.url.replace(/\/$/, '')}/${encodeURIComponent(name)}`;
    return { ...address, endpoint_path: name, url };
  }
  if (versioning.location === 'url-param')
    return {
      ...address,
      query_parameters: [named],
      url: `${address.url}?${new URLSearchParams([[named.name, name]])}`,
    };
  return { ...address, headers: [named] };
}
