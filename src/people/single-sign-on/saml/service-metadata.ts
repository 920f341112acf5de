import { escapeMarkup } from '#base/escape-markup.ts';
import { postBinding, redirectBinding } from './metadata.ts';
import type { ServiceKey } from './service-key.ts';

export interface ServiceProvider {
  readonly entityId: string;
  /** Assertion consumer service. */
  readonly redirectUrl: string;
  /** Single logout service, where there is a key. */
  readonly logoutUrl: string;
  readonly key: ServiceKey | undefined;
}

/** Accepted algorithms, the preferred ones first. */
const encryptionMethods = [
  'http://www.w3.org/2009/xmlenc11#aes256-gcm',
  'http://www.w3.org/2009/xmlenc11#aes128-gcm',
  'http://www.w3.org/2001/04/xmlenc#aes256-cbc',
  'http://www.w3.org/2001/04/xmlenc#aes128-cbc',
  'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
];

/** A site without single logout has no address for it. */
type MetadataSource = Omit<ServiceProvider, 'logoutUrl'> & Partial<Pick<ServiceProvider, 'logoutUrl'>>;

/** Service provider metadata, to register at the identity provider. Assertions must be signed. */
export const formatMetadata = ({ entityId, redirectUrl, logoutUrl, key }: MetadataSource): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${escapeMarkup(entityId)}">`,
    '<SPSSODescriptor AuthnRequestsSigned="false" WantAssertionsSigned="true"',
    ' protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">',
    ...(key ? [formatKey('signing', key), formatKey('encryption', key)] : []),
    ...(key && logoutUrl ? [redirectBinding, postBinding].map(binding => formatLogoutService(binding, logoutUrl)) : []),
    `<AssertionConsumerService index="0" isDefault="true" Binding="${postBinding}" Location="${escapeMarkup(redirectUrl)}"/>`,
    '</SPSSODescriptor></EntityDescriptor>',
  ].join('\n');

const formatLogoutService = (binding: string, url: string) =>
  `<SingleLogoutService Binding="${binding}" Location="${escapeMarkup(url)}"/>`;

function formatKey(use: 'signing' | 'encryption', { certificate }: ServiceKey): string {
  const methods = use === 'encryption' ? encryptionMethods : [];
  return [
    `<KeyDescriptor use="${use}"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data>`,
    `<X509Certificate>${certificate.raw.toString('base64')}</X509Certificate></X509Data></KeyInfo>`,
    ...methods.map(algorithm => `<EncryptionMethod Algorithm="${algorithm}"/>`),
    '</KeyDescriptor>',
  ].join('');
}
