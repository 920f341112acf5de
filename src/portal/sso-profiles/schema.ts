import { z } from 'zod';
import type { Json } from '#base/json.ts';
import { maskSecrets } from '#people/single-sign-on/profiles/secrets.ts';
import { lenientBool, nonEmptyText, textUpTo } from '../shapes.ts';

/** SSO profiles: sign-in to the portal through an identity provider. */

export const actionTypes = ['GenerateOrLoginUserProfile', 'GenerateOrLoginDeveloperProfile'] as const;
/** Redirect flow through the browser, or passthrough of name and password. */
export const typeOfProvider = {
  SocialProvider: 'redirect',
  SAMLProvider: 'redirect',
  ADProvider: 'passthrough',
  ProxyProvider: 'passthrough',
} as const;
const types = ['redirect', 'passthrough'] as const;
const providerNames = Object.keys(typeOfProvider) as (keyof typeof typeOfProvider)[];

const oneOf = <const T extends readonly string[]>(values: T) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });

/** Used in URLs. */
const profileId = z.string().regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be 1 to 100 letters, digits, _ or -');

type JsonObject = { [name: string]: Json };
const config = z.record(z.string(), z.custom<Json>());
/** Identity provider groups to team ids; ids may be numbers. */
const groupMapping = z.record(
  z.string().max(255),
  z.union([z.string().max(255), z.int().transform(String)], { error: 'must be the number of a team, as text' }),
);

/** Roles of developers that a profile may create. */
export const signOnRoles = ['consumer-team-member', 'consumer-admin'] as const;

/** Members of our own, with what profiles of before have. */
export const ownDefaults = {
  DefaultRole: 'consumer-team-member',
  ResyncTeams: false,
  SingleLogout: false,
  TrustUnverifiedEmail: false,
} as const;
const own = {
  DefaultRole: oneOf(signOnRoles).nullish().describe('Role of developers whom the profile creates'),
  ResyncTeams: lenientBool.nullish().describe('Each sign-on of a developer sets the teams that its groups map to'),
  SingleLogout: lenientBool
    .nullish()
    .describe('A sign-out goes on to the provider: OpenID Connect with an `end_session_endpoint` only'),
  TrustUnverifiedEmail: lenientBool
    .nullish()
    .describe('Addresses count as verified, though the provider does not say so'),
};

const texts = {
  OrgID: textUpTo().nullish(),
  MatchedPolicyID: textUpTo().nullish(),
  CustomEmailField: textUpTo().nullish(),
  CustomUserIDField: textUpTo().nullish(),
  ProviderConstraintsDomain: textUpTo().nullish(),
  ProviderConstraintsGroup: textUpTo().nullish(),
  ReturnURL: textUpTo(2048).nullish(),
  DefaultUserGroupID: textUpTo().nullish(),
  CustomUserGroupField: textUpTo().nullish(),
  UserGroupSeparator: textUpTo().nullish(),
};

export const ProfileWrite = z.object({
  ...texts,
  ...own,
  ID: profileId.nullish(),
  Name: nonEmptyText(),
  ActionType: oneOf(actionTypes),
  Type: oneOf(types).nullish(),
  ProviderName: oneOf(providerNames),
  ProviderConfig: config.nullish(),
  IdentityHandlerConfig: config.nullish(),
  UserGroupMapping: groupMapping.nullish(),
  SSOOnlyForRegisteredUsers: lenientBool.nullish(),
});
export type ProfileWrite = z.output<typeof ProfileWrite>;

export const ProfileChange = ProfileWrite.extend({
  Name: nonEmptyText().nullish(),
  ActionType: oneOf(actionTypes).nullish(),
  ProviderName: oneOf(providerNames).nullish(),
});
export type ProfileChange = z.output<typeof ProfileChange>;

const configView = z.record(z.string(), z.unknown());
export const Profile = z.object({
  ID: z.string(),
  Name: z.string(),
  OrgID: z.string(),
  ActionType: z.enum(actionTypes),
  MatchedPolicyID: z.string(),
  Type: z.enum(types),
  ProviderName: z.enum(providerNames),
  CustomEmailField: z.string(),
  CustomUserIDField: z.string(),
  ProviderConfig: configView,
  IdentityHandlerConfig: configView,
  ProviderConstraintsDomain: z.string(),
  ProviderConstraintsGroup: z.string(),
  ReturnURL: z.string(),
  DefaultUserGroupID: z.string(),
  CustomUserGroupField: z.string(),
  UserGroupMapping: z.record(z.string(), z.string()),
  UserGroupSeparator: z.string(),
  SSOOnlyForRegisteredUsers: z.boolean(),
  DefaultRole: z.enum(signOnRoles),
  ResyncTeams: z.boolean(),
  SingleLogout: z.boolean(),
  TrustUnverifiedEmail: z.boolean(),
});

/** Profile with plaintext secrets; `toProfileView` masks them. */
export interface SsoProfile extends Omit<z.output<typeof Profile>, 'ProviderConfig' | 'IdentityHandlerConfig'> {
  ProviderConfig: JsonObject;
  IdentityHandlerConfig: JsonObject;
  CreatedAt: number;
  UpdatedAt: number;
  UpdatedBy: string;
}

export const ProfileRow = z.object({
  ID: z.string(),
  Name: z.string(),
  ActionType: z.string(),
  LoginURL: z.string(),
  RedirectURL: z.string(),
  SelectedProviderType: z.string(),
  UpdatedAt: z.string(),
  UpdatedBy: z.string(),
});

/** Profile with masked secrets. */
export function toProfileView(profile: SsoProfile): z.input<typeof Profile> {
  const { CreatedAt: _created, UpdatedAt: _updated, UpdatedBy: _by, ...view } = profile;
  return {
    ...view,
    ProviderConfig: maskSecrets(profile.ProviderConfig),
    IdentityHandlerConfig: maskSecrets(profile.IdentityHandlerConfig),
  };
}
