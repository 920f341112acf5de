import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import { isObject } from '#base/json-tree.ts';
import { trimTrailingSlashes } from '#base/trim-slashes.ts';
import { createDocumentCache } from '../document-cache.ts';
import { ProviderFailure } from '../problems.ts';
import { discoverySuffix, isProviderUrl } from '../provider-configs.ts';

/** Metadata of an OpenID provider. */
export interface OpenIdProvider {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly userinfoEndpoint: string | undefined;
  readonly jwksUrl: string;
  /** RFC 9207: responses name their issuer. */
  readonly sendsIssuer: boolean;
  readonly acceptsBasic: boolean;
}

export const providerTimeoutMs = 10_000;
export const maxProviderBytes = 512 * 1024;
const cacheTtlMs = 300_000;

export type Discovery = ReturnType<typeof createDiscovery>;

/** OpenID Connect Discovery 1.0, with the networks of the organisation. */
export const createDiscovery = (outbound: OutboundClient, clock: Clock) =>
  createDocumentCache(clock, cacheTtlMs, async (orgId, url): Promise<OpenIdProvider> => {
    const { status, body } = await outbound.fetch({
      url,
      headers: { accept: 'application/json' },
      audience: 'operator',
      orgId,
      timeoutMs: providerTimeoutMs,
      maxBytes: maxProviderBytes,
    });
    if (status !== 200) throw new ProviderFailure(`discovery responded with status ${status}`);
    return parseProvider(url, parseProviderJson(body));
  });

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
  const methods = document.token_endpoint_auth_methods_supported;
  return {
    issuer,
    authorizationEndpoint: readUrl('authorization_endpoint'),
    tokenEndpoint: readUrl('token_endpoint'),
    userinfoEndpoint: document.userinfo_endpoint === undefined ? undefined : readUrl('userinfo_endpoint'),
    jwksUrl: readUrl('jwks_uri'),
    sendsIssuer: document.authorization_response_iss_parameter_supported === true,
    acceptsBasic: !Array.isArray(methods) || methods.includes('client_secret_basic'),
  };
}
