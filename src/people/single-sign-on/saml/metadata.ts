import { createHash } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import { Lru } from '#base/lru.ts';
import { parseXml, XmlError } from '#languages/xml.ts';
import { createDocumentCache, maxProviderBytes, providerTimeoutMs } from '../document-cache.ts';
import { ProviderFailure } from '../problems.ts';
import { isProviderUrl, type SamlConfig } from '../profiles/provider-configs.ts';
import { listChildren, readAttribute, readElementText } from './elements.ts';

/** SAML identity provider, as its metadata describes it (SAML 2.0 Metadata). */
export interface SamlProvider {
  readonly entityId: string;
  /** Endpoint of the HTTP-Redirect binding. */
  readonly signOnUrl: string;
  /** Certificates of its signatures, PEM. */
  readonly certificates: readonly string[];
  readonly logout: LogoutEndpoint | undefined;
}

/** Single logout service of a provider. */
export interface LogoutEndpoint {
  readonly binding: typeof redirectBinding | typeof postBinding;
  readonly requestUrl: string;
  readonly responseUrl: string;
}

export const redirectBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
export const postBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST';
const maxCertificates = 20;
const cacheTtlMs = 3_600_000;
/** Documents of profiles that are held parsed. */
const maxParsedDocuments = 1000;

export type FindSamlProvider = ReturnType<typeof createSamlProviders>;

/** Metadata of a provider, fetched over TLS with the networks of the organisation. */
export async function fetchMetadata(outbound: OutboundClient, orgId: string, url: string): Promise<SamlProvider> {
  const { status, body } = await outbound.fetch({
    url,
    audience: 'operator',
    orgId,
    timeoutMs: providerTimeoutMs,
    maxBytes: maxProviderBytes,
  });
  if (status !== 200) throw new ProviderFailure(`metadata responded with status ${status}`);
  return parseMetadata(body.toString('utf8'));
}

/** Providers by the metadata of a profile itself, or of the address that it names; both cached. */
export function createSamlProviders(outbound: OutboundClient, clock: Clock) {
  const readUrl = createDocumentCache(clock, cacheTtlMs, (orgId, url) => fetchMetadata(outbound, orgId, url));
  const parsed = new Lru<string, SamlProvider | ProviderFailure>(maxParsedDocuments);

  /** Beginning a sign-on needs no credential: a document of a profile is parsed once. */
  function readInline(text: string): SamlProvider {
    const key = createHash('sha256').update(text).digest('base64');
    const result = parsed.get(key) ?? tryParse(text);
    parsed.set(key, result);
    if (result instanceof ProviderFailure) throw result;
    return result;
  }

  return async (orgId: string, { IDPMetadata, IDPMetadataURL }: SamlConfig): Promise<SamlProvider> =>
    IDPMetadata === '' ? readUrl(orgId, IDPMetadataURL) : readInline(IDPMetadata);
}

function tryParse(text: string): SamlProvider | ProviderFailure {
  try {
    return parseMetadata(text);
  } catch (error) {
    if (error instanceof ProviderFailure) return error;
    throw error;
  }
}

export function parseMetadata(text: string): SamlProvider {
  const entity = parseDocument(text).EntityDescriptor;
  const [descriptor] = listChildren(entity, 'IDPSSODescriptor');
  const entityId = readAttribute(entity, 'entityID');
  const services = listChildren(descriptor, 'SingleSignOnService');
  const service = services.find(it => readAttribute(it, 'Binding') === redirectBinding);
  const signOnUrl = readAttribute(service, 'Location');
  if (entityId === '') throw new ProviderFailure('the metadata has no entity id');
  if (!isProviderUrl(signOnUrl)) throw new ProviderFailure('the metadata has no usable HTTP-Redirect endpoint');
  const keys = listChildren(descriptor, 'KeyDescriptor').filter(it => readAttribute(it, 'use') !== 'encryption');
  const certificates = keys
    .flatMap(it => listChildren(it, 'KeyInfo'))
    .flatMap(it => listChildren(it, 'X509Data'))
    .flatMap(it => listChildren(it, 'X509Certificate'))
    .map(it => toPem(readElementText(it)));
  if (certificates.length === 0) throw new ProviderFailure('the metadata has no signing certificate');
  const logout = findLogoutEndpoint(listChildren(descriptor, 'SingleLogoutService'));
  return { entityId, signOnUrl, certificates: certificates.slice(0, maxCertificates), logout };
}

/** HTTP-Redirect before HTTP-POST; other bindings, and URLs that are not reached over TLS, are not used. */
function findLogoutEndpoint(services: readonly unknown[]): LogoutEndpoint | undefined {
  for (const binding of [redirectBinding, postBinding] as const) {
    const service = services.find(it => readAttribute(it, 'Binding') === binding);
    const requestUrl = readAttribute(service, 'Location');
    const responseUrl = readAttribute(service, 'ResponseLocation') || requestUrl;
    if (isProviderUrl(requestUrl) && isProviderUrl(responseUrl)) return { binding, requestUrl, responseUrl };
  }
  return undefined;
}

function parseDocument(text: string): Record<string, unknown> {
  try {
    return parseXml(text);
  } catch (error) {
    if (error instanceof XmlError) throw new ProviderFailure(`the metadata is malformed: ${error.message}`);
    throw error;
  }
}

const toPem = (base64: string) => {
  const lines = base64.replaceAll(/\s/g, '').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
};
