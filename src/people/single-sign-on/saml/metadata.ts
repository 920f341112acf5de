import type { Clock } from '#base/clock.ts';
import { escapeMarkup } from '#base/escape-markup.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import { parseXml, XmlError } from '#languages/xml.ts';
import { createDocumentCache } from '../document-cache.ts';
import { ProviderFailure } from '../problems.ts';
import { isProviderUrl, type SamlConfig } from '../provider-configs.ts';
import { listChildren, readAttribute, readElementText } from './elements.ts';

/** SAML identity provider, as its metadata describes it (SAML 2.0 Metadata). */
export interface SamlProvider {
  readonly entityId: string;
  /** Endpoint of the HTTP-Redirect binding. */
  readonly signOnUrl: string;
  /** Certificates of its signatures, PEM. */
  readonly certificates: readonly string[];
}

const redirectBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const postBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST';
const fetchTimeoutMs = 10_000;
const maxMetadataBytes = 512 * 1024;
const maxCertificates = 20;
const cacheTtlMs = 3_600_000;

export type SamlMetadata = ReturnType<typeof createSamlMetadata>;

/** Metadata of providers: of the profile itself, or fetched over TLS with the networks of the organisation. */
export function createSamlMetadata(outbound: OutboundClient, clock: Clock) {
  const readUrl = createDocumentCache(clock, cacheTtlMs, async (orgId, url): Promise<SamlProvider> => {
    const { status, body } = await outbound.fetch({
      url,
      audience: 'operator',
      orgId,
      timeoutMs: fetchTimeoutMs,
      maxBytes: maxMetadataBytes,
    });
    if (status !== 200) throw new ProviderFailure(`metadata responded with status ${status}`);
    return parseMetadata(body.toString('utf8'));
  });
  return async (orgId: string, { IDPMetadata, IDPMetadataURL }: SamlConfig): Promise<SamlProvider> =>
    IDPMetadata === '' ? readUrl(orgId, IDPMetadataURL) : parseMetadata(IDPMetadata);
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
  return { entityId, signOnUrl, certificates: certificates.slice(0, maxCertificates) };
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

/** Metadata of this side, to register at the provider. Assertions must be signed. */
export const formatMetadata = (entityId: string, redirectUrl: string): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${escapeMarkup(entityId)}">`,
    '<SPSSODescriptor AuthnRequestsSigned="false" WantAssertionsSigned="true"',
    ' protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">',
    `<AssertionConsumerService index="0" isDefault="true" Binding="${postBinding}" Location="${escapeMarkup(redirectUrl)}"/>`,
    '</SPSSODescriptor></EntityDescriptor>',
  ].join('\n');
