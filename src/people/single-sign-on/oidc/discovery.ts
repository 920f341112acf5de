import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import { isObject } from '#base/json-tree.ts';
import { trimTrailingSlashes } from '#base/trim-slashes.ts';
import { createDocumentCache, maxProviderBytes, providerTimeoutMs } from '../document-cache.ts';
import { ProviderFailure } from '../problems.ts';
import { discoverySuffix, isProviderUrl } from '../profiles/provider-configs.ts';

/** Metadata of an OpenID provider. */
export interface OpenIdProvider {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly userinfoEndpoint: string | undefined;
  readonly jwksUrl: string;
  /** OpenID Connect RP-Initiated Logout 1.0; undefined where the provider has none. */
  readonly endSessionEndpoint: string | undefined;
  /** RFC 9207: responses name their issuer. */
  readonly sendsIssuer: boolean;
  readonly acceptsBasic: boolean;
}

const cacheTtlMs = 300_000;

export type DiscoverProvider = ReturnType<typeof createDiscovery>;

/** OpenID Connect Discovery 1.0, cached. */
export const createDiscovery = (outbound: OutboundClient, clock: Clock) =>
  createDocumentCache(clock, cacheTtlMs, (orgId, url) => fetchProvider(outbound, orgId, url));

/** Discovery document of a provider, with the networks of the organisation. */
export async function fetchProvider(outbound: OutboundClient, orgId: string, url: string): Promise<OpenIdProvider> {
  return parseProvider(url, await fetchProviderJson(outbound, orgId, url));
}

export async function fetchProviderJson(outbound: OutboundClient, orgId: string, url: string): Promise<unknown> {
  const { status, body } = await outbound.fetch({
    url,
    headers: { accept: 'application/json' },
    audience: 'operator',
    orgId,
    timeoutMs: providerTimeoutMs,
    maxBytes: maxProviderBytes,
  });
  if (status !== 200) throw new ProviderFailure(`${new URL(url).pathname} responded with status ${status}`);
  return parseProviderJson(body);
}

export function parseProviderJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new ProviderFailure('the provider responded without JSON');
  }
}

/** Section 4.3: the issuer must be that of the requested address, else one provider could assert users of another. */
function parseProvider(url: string, document: unknown): OpenIdProvider {
  if (!isObject(document)) throw new ProviderFailure('the discovery document is no object');
  const { issuer } = document;
  if (typeof issuer !== 'string' || trimTrailingSlashes(issuer) + discoverySuffix !== url)
    throw new ProviderFailure('the discovery document has another issuer');
  const readUrl = (name: string): string => {
    const value = document[name];
    if (!isProviderUrl(value)) throw new ProviderFailure(`the discovery document has no usable ${name}`);
    return value;
  };
  const endSession = document.end_session_endpoint;
  const methods = document.token_endpoint_auth_methods_supported;
  return {
    issuer,
    authorizationEndpoint: readUrl('authorization_endpoint'),
    tokenEndpoint: readUrl('token_endpoint'),
    userinfoEndpoint: document.userinfo_endpoint === undefined ? undefined : readUrl('userinfo_endpoint'),
    jwksUrl: readUrl('jwks_uri'),
    endSessionEndpoint: isProviderUrl(endSession) ? endSession : undefined,
    sendsIssuer: document.authorization_response_iss_parameter_supported === true,
    acceptsBasic: !Array.isArray(methods) || methods.includes('client_secret_basic'),
  };
}
