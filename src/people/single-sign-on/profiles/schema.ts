import { z } from 'zod';
import { formatIsoTime } from '#base/clock.ts';
import type { Json } from '#base/json.ts';
import { readOnlyMembers } from '#base/members.ts';
import { type ProviderName, providerNames, providerTable } from './provider-configs.ts';
import { maskSecrets } from './secrets.ts';

/** Identity profile: an identity provider of an organisation, and how its users and groups map to those here. */

type JsonObject = { [name: string]: Json };
const maxMappings = 1000;
const text = (about: string) => z.string().max(255).default('').describe(about);

const written = z.object({
  Name: z.string().trim().min(1, 'is required').max(200),
  Active: z.boolean().default(true).describe('No user signs on through an inactive profile'),
  ActionType: z.literal('GenerateOrLoginUserProfile').default('GenerateOrLoginUserProfile'),
  Type: z.enum(['redirect', 'passthrough']).optional().describe('Follows from ProviderName'),
  ProviderName: z.enum(providerNames, { error: `must be one of ${providerNames.join(', ')}` }),
  ProviderConfig: z.record(z.string(), z.custom<Json>()).describe('Members depend on ProviderName'),
  CustomEmailField: text('Claim with the e-mail address; default email'),
  CustomUserIDField: text('Claim that identifies the user; default sub'),
  CustomUserGroupField: text('Claim with the groups'),
  UserGroupSeparator: text('Separates groups in a text; default a blank'),
  UserGroupMapping: z
    .record(z.string().max(255), z.string().min(1).max(64))
    .default({})
    .refine(map => Object.keys(map).length <= maxMappings, `has more than ${maxMappings} groups`)
    .describe('Group of the provider to user group; all that match apply'),
  DefaultUserGroupID: z.string().max(64).default('').describe('User group where no mapping matches'),
  ProviderConstraintsDomain: text('Refuses e-mail addresses of other domains'),
  ProviderConstraintsGroup: text('Refuses users without this group of the provider'),
  SSOOnlyForRegisteredUsers: z.boolean().default(false).describe('Refuses users without an account'),
});

const serverMembers = [
  'ID',
  'OrgID',
  'SignsInAccounts',
  'LoginURL',
  'RedirectURL',
  'CreatedAt',
  'UpdatedAt',
  'UpdatedBy',
];
export const IdentityProfileWrite = readOnlyMembers(written, serverMembers);
export type IdentityProfileWrite = z.output<typeof written>;

export const IdentityProfileView = written.extend({
  Type: z.string(),
  ProviderConfig: z.record(z.string(), z.unknown()).describe('Secrets are masked; the mask sent back keeps a secret'),
  ID: z.string(),
  OrgID: z.string(),
  SignsInAccounts: z
    .boolean()
    .describe('An administrator to whom nothing is denied wrote the profile: it may sign users in to their accounts'),
  LoginURL: z.string().describe('Starts a sign-on'),
  RedirectURL: z.string().describe('Redirect URI to register at the identity provider'),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
  UpdatedBy: z.string(),
});

/** Profile with plaintext secrets. */
export interface IdentityProfile extends Omit<IdentityProfileWrite, 'Type' | 'ProviderConfig'> {
  readonly ID: string;
  readonly OrgID: string;
  readonly ProviderName: ProviderName;
  readonly ProviderConfig: JsonObject;
  readonly SignsInAccounts: boolean;
  readonly CreatedAt: number;
  readonly UpdatedAt: number;
  readonly UpdatedBy: string;
}

/** URLs of a profile below the public URL of its listener. */
export function toProfileUrls({ ID, ProviderName }: Pick<IdentityProfile, 'ID' | 'ProviderName'>, baseUrl: string) {
  const loginUrl = `${baseUrl}/tib/auth/${ID}/${providerTable[ProviderName].segment}`;
  return { loginUrl, redirectUrl: `${loginUrl}/callback` };
}

/** Wire form, with masked secrets. */
export function toIdentityProfileView(profile: IdentityProfile, baseUrl: string): z.input<typeof IdentityProfileView> {
  const { loginUrl, redirectUrl } = toProfileUrls(profile, baseUrl);
  return {
    ...profile,
    Type: providerTable[profile.ProviderName].type,
    ProviderConfig: maskSecrets(profile.ProviderConfig),
    LoginURL: loginUrl,
    RedirectURL: redirectUrl,
    CreatedAt: formatIsoTime(profile.CreatedAt),
    UpdatedAt: formatIsoTime(profile.UpdatedAt),
  };
}
