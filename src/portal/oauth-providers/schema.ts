import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import { chosenCid, formatOptionalTime, lenientBool, nonEmptyText, optionalMember, textUpTo } from '../shapes.ts';

/** OAuth provider: an identity provider that registers clients of developers; a client type is a template for them. */
const providerTypes = ['Keycloak', 'Gluu', 'Okta', 'Other'] as const;
const responseTypes = ['code', 'token', 'id_token', 'none'] as const;
const grantTypes = [
  'authorization_code',
  'pkce',
  'client_credentials',
  'device_code',
  'refresh_token',
  'password',
  'implicit',
] as const;
const authMethods = ['client_secret_basic', 'client_secret_post'] as const;
const oktaAppTypes = ['web', 'native', 'browser', 'service'] as const;

const discoveryUrl = z
  .string()
  .max(2048)
  .refine(text => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'must be an http or https address')
  .refine(text => !URL.parse(text)?.username && !URL.parse(text)?.password, 'must not contain a user name or password');

const providerMembers = {
  Name: nonEmptyText(),
  Type: z.enum(providerTypes),
  WellKnownURL: discoveryUrl,
  SSLInsecureSkipVerify: optionalMember(lenientBool),
  /** Never returned; empty removes it. */
  RegistrationAccessToken: optionalMember(textUpTo(8192)),
};
const readOnly = ['ID', 'ClientTypes', 'CreatedAt', 'UpdatedAt'];
export const OauthProviderWrite = readOnlyMembers(
  z.object({ ...providerMembers, CID: optionalMember(chosenCid) }),
  readOnly,
);
export const OauthProviderChange = readOnlyMembers(
  z.object({
    ...providerMembers,
    Name: optionalMember(providerMembers.Name),
    Type: optionalMember(providerMembers.Type),
    WellKnownURL: optionalMember(discoveryUrl),
  }),
  [...readOnly, 'CID'],
);
export type OauthProviderChange = z.output<typeof OauthProviderChange>;

/** List as comma-separated text or as an array; stored as text. */
const listOf = <const T extends readonly [string, ...string[]]>(names: T, aliases: Record<string, string> = {}) =>
  z
    .union([textUpTo(1000).transform(text => text.split(',')), z.array(textUpTo(100)).max(20)])
    .transform(parts => parts.map(part => aliases[part.trim()] ?? part.trim()).filter(Boolean))
    .pipe(z.array(z.enum(names)))
    .transform(parts => [...new Set(parts)].join(','));
/** Empty text is unset, as exporters write it. */
const optionalEnum = <const T extends readonly [string, ...string[]]>(names: T) =>
  optionalMember(z.union([z.literal('').transform(() => undefined), z.enum(names)]));

const clientTypeMembers = {
  Description: optionalMember(textUpTo(10_000)),
  ResponseTypes: optionalMember(listOf(responseTypes, { it_token: 'id_token' })),
  GrantType: optionalMember(listOf(grantTypes)),
  TokenEndpointAuthMethod: optionalEnum(authMethods),
  OktaAppType: optionalEnum(oktaAppTypes),
};
export const ClientTypeWrite = readOnlyMembers(
  z.object({ ...clientTypeMembers, Name: nonEmptyText(), CID: optionalMember(chosenCid) }),
  ['ID', 'CreatedAt', 'UpdatedAt'],
);
export const ClientTypeChange = readOnlyMembers(
  z.object({ ...clientTypeMembers, Name: optionalMember(nonEmptyText()) }),
  ['ID', 'CID', 'CreatedAt', 'UpdatedAt'],
);
export type ClientTypeChange = z.output<typeof ClientTypeChange>;

export interface StoredOauthProvider {
  ID: number;
  CID: string;
  Name: string;
  Type: (typeof providerTypes)[number];
  WellKnownURL: string;
  SSLInsecureSkipVerify: boolean;
  /** Empty without one. */
  RegistrationAccessToken: string;
  CreatedAt: number;
  UpdatedAt: number;
}

export interface StoredClientType {
  ID: number;
  CID: string;
  ProviderID: number;
  Name: string;
  Description: string;
  ResponseTypes: string;
  GrantType: string;
  TokenEndpointAuthMethod?: (typeof authMethods)[number] | undefined;
  OktaAppType?: (typeof oktaAppTypes)[number] | undefined;
  CreatedAt: number;
  UpdatedAt: number;
}

const times = { CreatedAt: z.string(), UpdatedAt: z.string() };
export const ClientType = z.object({
  ID: z.int(),
  CID: z.string(),
  Name: z.string(),
  Description: z.string(),
  ResponseTypes: z.string(),
  GrantType: z.string(),
  TokenEndpointAuthMethod: z.enum(authMethods).optional(),
  OktaAppType: z.enum(oktaAppTypes).optional(),
  ...times,
});
export const AttachedClientType = ClientType.omit({ CID: true, ResponseTypes: true, TokenEndpointAuthMethod: true });
export const ClientTypeRow = z.object({ ID: z.int(), Name: z.string() });

/** Without the registration access token. */
export const PortalOauthProvider = z.object({
  ID: z.int(),
  CID: z.string(),
  Name: z.string(),
  Type: z.enum(providerTypes),
  WellKnownURL: z.string(),
  SSLInsecureSkipVerify: z.boolean(),
  ...times,
});
export const PortalOauthProviderView = PortalOauthProvider.extend({ ClientTypes: z.array(ClientType) });

const toTimes = ({ CreatedAt, UpdatedAt }: { CreatedAt: number; UpdatedAt: number }) => ({
  CreatedAt: formatOptionalTime(CreatedAt),
  UpdatedAt: formatOptionalTime(UpdatedAt),
});

export function toOauthProviderRow(provider: StoredOauthProvider): z.output<typeof PortalOauthProvider> {
  const { ID, CID, Name, Type, WellKnownURL, SSLInsecureSkipVerify } = provider;
  return { ID, CID, Name, Type, WellKnownURL, SSLInsecureSkipVerify, ...toTimes(provider) };
}

export function toClientTypeView({ ProviderID: _provider, ...type }: StoredClientType): z.output<typeof ClientType> {
  const { TokenEndpointAuthMethod, OktaAppType, ...rest } = type;
  return {
    ...rest,
    ...(TokenEndpointAuthMethod && { TokenEndpointAuthMethod }),
    ...(OktaAppType && { OktaAppType }),
    ...toTimes(type),
  };
}

export function toAttachedView(type: StoredClientType): z.output<typeof AttachedClientType> {
  const { ID, Name, Description, GrantType, OktaAppType } = type;
  return { ID, Name, Description, GrantType, ...(OktaAppType && { OktaAppType }), ...toTimes(type) };
}
