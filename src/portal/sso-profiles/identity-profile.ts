import { toValidationErrors, type ValidationError } from '#operations/validation-error.ts';
import { providerTable } from '#people/single-sign-on/profiles/provider-configs.ts';
import type { IdentityProfile } from '#people/single-sign-on/profiles/schema.ts';
import type { SsoProfile } from './schema.ts';

/**
 * Members of provider configurations that are stored for other brokers and have no effect here: the portal shows its own
 * page of failures, and has one address.
 */
const storedOnly = {
  SocialProvider: ['CallbackBaseURL', 'FailureRedirect', 'JWE'],
  SAMLProvider: ['SAMLBaseURL', 'SAMLBinding', 'CertLocation', 'FailureRedirect'],
  ADProvider: ['DefaultDomain', 'GetAuthFromBAHeader', 'SlugifyUserName', 'FailureRedirect'],
} as const;
const storedOnlyOfClient = ['DisableAuthHeaderProviderDomain'];

type Config = SsoProfile['ProviderConfig'];

const omitMembers = (config: Config, names: readonly string[]): Config =>
  Object.fromEntries(Object.entries(config).filter(([name]) => !names.includes(name)));

function selectUsed(provider: keyof typeof storedOnly, config: Config): Config {
  const used = omitMembers(config, storedOnly[provider]);
  const { UseProviders: clients } = used;
  if (!Array.isArray(clients)) return used;
  const isObject = (it: unknown): it is Config => typeof it === 'object' && it !== null && !Array.isArray(it);
  return { ...used, UseProviders: clients.map(it => (isObject(it) ? omitMembers(it, storedOnlyOfClient) : it)) };
}

export interface SignOnProfile {
  readonly stored: SsoProfile;
  /** The profile as the clients of identity providers take it. */
  readonly identity: IdentityProfile;
}

/** Prefix of the ids of portal profiles where those of the dashboard are too: sessions, tokens and limits. */
export const toSharedProfileId = (id: string): string => `portal:${id}`;

/** Profile that users can sign on with; the faults of one that they cannot. `orgId`: the operator's own, whose networks apply. */
export function toSignOnProfile(stored: SsoProfile, orgId: string): SignOnProfile | readonly ValidationError[] {
  const { ProviderName, CreatedAt, UpdatedAt, UpdatedBy } = stored;
  if (ProviderName === 'ProxyProvider')
    return [{ path: 'ProviderName', message: 'ProxyProvider is stored only: the portal signs no user on with it' }];
  const { config } = providerTable[ProviderName];
  const sent = selectUsed(ProviderName, stored.ProviderConfig);
  const parsed = config.safeParse(sent);
  if (!parsed.success) return toValidationErrors(config, sent, parsed.error, 'ProviderConfig');
  const identity: IdentityProfile = {
    ID: toSharedProfileId(stored.ID),
    OrgID: orgId,
    Name: stored.Name,
    Active: true,
    ActionType: 'GenerateOrLoginUserProfile',
    ProviderName,
    ProviderConfig: sent,
    CustomEmailField: stored.CustomEmailField,
    CustomUserIDField: stored.CustomUserIDField,
    CustomUserGroupField: stored.CustomUserGroupField,
    UserGroupSeparator: stored.UserGroupSeparator,
    UserGroupMapping: stored.UserGroupMapping,
    DefaultUserGroupID: stored.DefaultUserGroupID,
    ProviderConstraintsDomain: stored.ProviderConstraintsDomain,
    ProviderConstraintsGroup: stored.ProviderConstraintsGroup,
    SSOOnlyForRegisteredUsers: stored.SSOOnlyForRegisteredUsers,
    SignsInAccounts: true,
    CreatedAt,
    UpdatedAt,
    UpdatedBy,
  };
  return { stored, identity };
}

export const isSignOnProfile = (it: SignOnProfile | readonly ValidationError[]): it is SignOnProfile =>
  'identity' in it;
