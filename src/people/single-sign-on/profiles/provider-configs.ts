import { z } from 'zod';
import { LdapFilterError, parseLdapFilter, userNamePlaceholder } from '../ldap/filter.ts';
import { maxPemCharacters, readServiceKey, type ServiceKey } from '../saml/service-key.ts';

/** Members of `ProviderConfig`, one row for each provider. What a row does not declare is refused. */

const maxScopes = 50;

const isLoopbackHost = (host: string) => host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);

/** Identity providers are reached over TLS: what they publish decides who may sign on. Loopback is excepted. */
export function isProviderUrl(text: unknown): text is string {
  const url = typeof text === 'string' && text.length <= 2048 ? URL.parse(text) : null;
  if (!url || url.username || url.password || url.hash) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
}

const providerUrl = z.string().refine(isProviderUrl, 'must be an https URL (http for loopback)');

/** OpenID Connect Discovery 1.0, section 4: the document's path follows from the issuer. */
export const discoverySuffix = '/.well-known/openid-configuration';

const openIdConnect = z.strictObject({
  Name: z.literal('openid-connect'),
  Key: z.string().min(1).max(500),
  Secret: z.string().max(2000).default(''),
  DiscoverURL: providerUrl.refine(text => text.endsWith(discoverySuffix), `must end with ${discoverySuffix}`),
  Scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/, 'must be a scope'))
    .max(maxScopes)
    .default(['openid', 'email', 'profile'])
    .refine(scopes => scopes.includes('openid'), 'must contain openid'),
  SkipUserInfoRequest: z.boolean().default(false),
  SingleLogout: z.boolean().default(false),
});
export type OpenIdConnectConfig = z.output<typeof openIdConnect>;

const socialConfig = z.strictObject({
  UseProviders: z.array(openIdConnect).length(1, 'must have one provider, openid-connect'),
});

const ldapText = z.string().max(1000);
const attributeName = z.string().regex(/^[A-Za-z][A-Za-z0-9;.-]{0,127}$/, 'must be the name of an attribute');
const scopes = { 0: 0, 1: 1, 2: 2 } as const;

/** A filter that cannot be parsed is refused when the profile is written. */
const ldapFilter = ldapText.refine(hasValidFilter, 'must be a filter such as (uid=*USERNAME*)');

function hasValidFilter(text: string): boolean {
  if (text === '') return true;
  try {
    parseLdapFilter(text);
    return text.includes(userNamePlaceholder);
  } catch (error) {
    if (error instanceof LdapFilterError) return false;
    throw error;
  }
}

const ldapConfig = z
  .strictObject({
    LDAPServer: z.string().regex(/^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]+\])$/, 'must be a host name or address'),
    LDAPPort: z
      .union([z.string().regex(/^\d{1,5}$/), z.int().transform(String)])
      .refine(text => Number(text) >= 1 && Number(text) <= 65_535, 'must be a port'),
    LDAPUseSSL: z.boolean().default(false),
    LDAPStartTLS: z.boolean().default(false),
    LDAPCACertificate: z.string().max(65_536).default(''),
    LDAPUserDN: ldapText.default(''),
    LDAPAdminUser: ldapText.default(''),
    LDAPAdminPassword: ldapText.default(''),
    LDAPBaseDN: ldapText.default(''),
    LDAPFilter: ldapFilter.default(''),
    LDAPSearchScope: z
      .union([z.literal([0, 1, 2]), z.literal(['0', '1', '2'])])
      .default(2)
      .transform(scope => scopes[scope]),
    LDAPAttributes: z.array(attributeName).max(50).default([]),
    LDAPEmailAttribute: attributeName.default('mail'),
    LDAPFirstNameAttribute: attributeName.default('givenName'),
    LDAPLastNameAttribute: attributeName.default('sn'),
  })
  .superRefine((config, context) => {
    const fault = (member: string, message: string) => context.addIssue({ code: 'custom', path: [member], message });
    const { LDAPUserDN, LDAPAdminUser, LDAPAdminPassword, LDAPBaseDN, LDAPFilter } = config;
    if (config.LDAPUseSSL && config.LDAPStartTLS) fault('LDAPStartTLS', 'cannot be set with LDAPUseSSL');
    if (!config.LDAPUseSSL && !config.LDAPStartTLS && !isLoopbackHost(config.LDAPServer))
      fault('LDAPUseSSL', 'is required, or LDAPStartTLS: passwords are not sent in clear text (except to loopback)');
    if (LDAPUserDN !== '' && !LDAPUserDN.includes(userNamePlaceholder))
      fault('LDAPUserDN', `must contain ${userNamePlaceholder}`);
    if ((LDAPUserDN === '') === (LDAPAdminUser === ''))
      fault('LDAPUserDN', 'is required, or LDAPAdminUser, and not both');
    if ((LDAPAdminUser === '') !== (LDAPAdminPassword === ''))
      fault('LDAPAdminPassword', 'is required with LDAPAdminUser, and only with it');
    if (LDAPAdminUser !== '' && (LDAPBaseDN === '' || LDAPFilter === ''))
      fault('LDAPFilter', 'is required with LDAPAdminUser, and LDAPBaseDN too');
    if (LDAPUserDN.includes('=') && LDAPBaseDN !== '')
      fault('LDAPBaseDN', 'has no effect with a distinguished name as LDAPUserDN, which is read itself');
    if (!LDAPUserDN.includes('=') && LDAPUserDN !== '' && (LDAPBaseDN === '' || LDAPFilter === ''))
      fault('LDAPFilter', 'and LDAPBaseDN are required where LDAPUserDN is not a distinguished name');
  });
export type LdapConfig = z.output<typeof ldapConfig>;

const claimName = z.string().max(500).default('');
const maxMetadataLength = 262_144;

const samlConfig = z
  .strictObject({
    IDPMetadataURL: z.union([z.literal(''), providerUrl]).default(''),
    IDPMetadata: z.string().max(maxMetadataLength).default(''),
    EntityId: z.string().max(1024).default(''),
    ForceAuthentication: z.boolean().default(false),
    SAMLEmailClaim: claimName,
    SAMLForenameClaim: claimName,
    SAMLSurnameClaim: claimName,
    SPCertificate: z.string().max(maxPemCharacters).default(''),
    SPPrivateKey: z.string().max(maxPemCharacters).default(''),
  })
  .refine(config => (config.IDPMetadataURL === '') !== (config.IDPMetadata === ''), {
    path: ['IDPMetadataURL'],
    message: 'is required, or IDPMetadata, and not both',
  })
  .superRefine(({ SPCertificate, SPPrivateKey }, context) => {
    if (SPCertificate === '' && SPPrivateKey === '') return;
    const key = readServiceKey(SPPrivateKey, SPCertificate);
    if (typeof key === 'string') context.addIssue({ code: 'custom', path: ['SPPrivateKey'], message: key });
  });
export type SamlConfig = z.output<typeof samlConfig>;

interface ProviderRow {
  /** Last segment of the login URL. */
  readonly segment: string;
  /** Through the browser, or with a name and a password that are checked here. */
  readonly type: 'redirect' | 'passthrough';
  readonly config: z.ZodType;
}

export const providerTable = {
  SocialProvider: { segment: 'openid-connect', type: 'redirect', config: socialConfig },
  SAMLProvider: { segment: 'saml', type: 'redirect', config: samlConfig },
  ADProvider: { segment: 'ldap', type: 'passthrough', config: ldapConfig },
} as const satisfies Readonly<Record<string, ProviderRow>>;

export type ProviderName = keyof typeof providerTable;
export const providerNames = Object.keys(providerTable) as [ProviderName, ...ProviderName[]];

export const readSaml = (config: unknown): SamlConfig => samlConfig.parse(config);
/** Key of the service provider; undefined for a profile without one. */
export function readSamlKey({ SPCertificate, SPPrivateKey }: SamlConfig): ServiceKey | undefined {
  const key = SPPrivateKey === '' ? undefined : readServiceKey(SPPrivateKey, SPCertificate);
  return typeof key === 'string' ? undefined : key;
}
export const readLdap = (config: unknown): LdapConfig => ldapConfig.parse(config);
export const readOpenIdConnect = (config: unknown): OpenIdConnectConfig => socialConfig.parse(config).UseProviders[0]!;
